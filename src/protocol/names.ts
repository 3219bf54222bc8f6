/**
 * Every name that Temporal, its command line or another client can see. They are stable: a name changes only with a
 * new major version, and no other module spells one of them as a string.
 */
export const TASK_QUEUE = 'secondwind';

export const WORKFLOW_TYPE = { agentRun: 'agentRun', loopGuard: 'loopGuard' } as const;

/** The same names serve as signals and as updates. */
export const MESSAGE = {
  override: 'override',
  feedback: 'feedback',
  answer: 'answer',
  cancelRun: 'cancel_run',
} as const;

/** Between a run and one that was started elsewhere to work for it: an update, and a signal when that one ends. */
export const BUDGET_MESSAGE = { lend: 'lend_budget', giveBack: 'give_back_budget' } as const;

/** What a guard of another orchestrator's loops takes; each a signal too, as with runs. */
export const GUARD_MESSAGE = { loopComplete: 'loop_complete', override: MESSAGE.override } as const;

export const QUERY = {
  status: 'status',
  guardrails: 'guardrails',
  failures: 'failures',
  trace: 'trace',
  /** The typed ending, also of a run that Temporal closed as cancelled; null before. */
  result: 'result',
} as const;

/** Activities of the runtime itself; each tool is the activity `tool.<name>`. */
export const ACTIVITY = {
  prepare: 'prepare',
  callModel: 'callModel',
  review: 'review',
  reconcile: 'reconcile',
  recall: 'recall',
  notify: 'notify',
  record: 'record',
  archive: 'archive',
  archiveGuard: 'archiveGuard',
} as const;

const TOOL_PREFIX = 'tool.';
export const toolActivity = (toolName: string): string => TOOL_PREFIX + toolName;
export const toolOfActivity = (activityType: string): string | null =>
  activityType.startsWith(TOOL_PREFIX) ? activityType.slice(TOOL_PREFIX.length) : null;

/** SQL visibility offers 10 Keyword and 3 Int attributes to a whole namespace; we take four and one. */
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

/** What the memo of a run holds for those who cannot or need not ask the workflow itself. */
export const MEMO = {
  pendingQuestion: 'pending_question',
  outcome: 'outcome',
  /** What was decided about the latest pass that another follows; the last one is in the archive. */
  decided: 'decided',
  requestHash: 'request_hash',
  startKey: 'start_key',
  /** The name that its loops share. */
  family: 'family',
  agent: 'agent',
  goal: 'goal',
  bound: 'bound',
} as const;
