/**
 * Every name that Temporal, its command line or another client can see. They are stable: a name changes only with a new
 * major version. No other module contains one of them as a string.
 */
export const TASK_QUEUE = 'secondwind';

export const WORKFLOW_TYPE = { agentRun: 'agentRun', loopGuard: 'loopGuard', saveArchive: 'saveArchive' } as const;

/** Each name is both a signal and an update. */
export const MESSAGE = {
  override: 'override',
  feedback: 'feedback',
  answer: 'answer',
  supersede: 'supersede',
  cancelRun: 'cancel_run',
} as const;

/**
 * Messages between a run and a sub-run that was started elsewhere: an update that asks for budget, and a signal when
 * the sub-run ends.
 */
export const BUDGET_MESSAGE = { lend: 'lend_budget', giveBack: 'give_back_budget' } as const;

/** Messages to a guard of another orchestrator's loops. As with runs, each is both a signal and an update. */
export const GUARD_MESSAGE = {
  loopComplete: 'loop_complete',
  override: MESSAGE.override,
  setPolicy: 'set_policy',
} as const;

/** A query that only guards have. */
export const GUARD_QUERY = { policy: 'policy' } as const;

export const QUERY = {
  status: 'status',
  guardrails: 'guardrails',
  failures: 'failures',
  trace: 'trace',
  /** The run's result, also if Temporal closed it as cancelled; null while it is open. */
  result: 'result',
} as const;

/** Activities of the runtime itself. Each tool is an activity `tool.<name>`. */
export const ACTIVITY = {
  prepare: 'prepare',
  callModel: 'callModel',
  review: 'review',
  reconcile: 'reconcile',
  checkOutput: 'checkOutput',
  checkInput: 'checkInput',
  recall: 'recall',
  notify: 'notify',
  record: 'record',
  archive: 'archive',
  archiveGuard: 'archiveGuard',
} as const;

/** In the heartbeats of an activity that waits for the store: what it wants of it. */
export const STORE_WAIT = 'waiting_for_store';

/** In the heartbeats of a side effect that goes on after its timeout: which one it is. */
export const LATE_EFFECT = 'waiting_for_late_effect';

const TOOL_PREFIX = 'tool.';
export const toolActivity = (toolName: string): string => TOOL_PREFIX + toolName;
export const toolOfActivity = (activityType: string): string | null =>
  activityType.startsWith(TOOL_PREFIX) ? activityType.slice(TOOL_PREFIX.length) : null;

/** The tool name in the failure records of a planner's own turns. */
export const PLANNER = 'planner';

/** Stands for the review of a pass where a lesson names its tools. No tool can have this name. */
export const REVIEW = ':review';

/** SQL visibility has 10 Keyword and 3 Int attributes for a whole namespace. We use four and one. */
export const SEARCH_ATTRIBUTE = {
  agent: 'SecondwindAgent',
  state: 'SecondwindState',
  outcome: 'SecondwindOutcome',
  label: 'SecondwindLabel',
  attempts: 'SecondwindAttempts',
} as const;

export const SEARCH_ATTRIBUTE_TYPES: Record<string, 'Keyword' | 'KeywordList' | 'Int'> = {
  [SEARCH_ATTRIBUTE.agent]: 'Keyword',
  [SEARCH_ATTRIBUTE.state]: 'Keyword',
  [SEARCH_ATTRIBUTE.outcome]: 'Keyword',
  [SEARCH_ATTRIBUTE.label]: 'KeywordList',
  [SEARCH_ATTRIBUTE.attempts]: 'Int',
};

/** Fields of a run's memo, which can be read without querying the workflow. */
export const MEMO = {
  pendingQuestion: 'pending_question',
  outcome: 'outcome',
  /**
   * The decision about the latest pass that is followed by another one. The decision about the last pass is in the
   * archive.
   */
  decided: 'decided',
  requestHash: 'request_hash',
  startKey: 'start_key',
  /** The name that the loops of a run or guard share. */
  family: 'family',
  agent: 'agent',
  goal: 'goal',
  tenant: 'tenant',
  bound: 'bound',
  /** Of a guarded run: whether a worker answers for its memory. Absent while no call has failed. */
  memory: 'memory',
} as const;
