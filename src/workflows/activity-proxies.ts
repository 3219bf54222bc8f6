import { ActivityCancellationType, proxyActivities } from '@temporalio/workflow';
import type { PlannerChoice, PlannerView, Reviewed, ReviewView } from '../core/run/ports.ts';
import { toolActivity } from '../protocol/names.ts';
import type { RecallQuery, RunLesson } from '../protocol/lessons.ts';
import type { QuestionNotice } from '../protocol/notices.ts';
import type { RecordBatch, RunArchive } from '../protocol/records.ts';
import type { PrepareOutcome, RunRequest } from '../protocol/run.ts';
import type { CallSucceeded, ReconcileOutcome, ToolCallRequest } from '../protocol/tools.ts';
import type { GuardArchive } from '../core/guardrails/loop-guard.ts';

/** A worker that stops beating is noticed this fast; our runner beats every second. */
const HEARTBEAT_TIMEOUT_MS = 5_000;
/** The runner ends a tool at its own time-out and tells so; Temporal's is only the net below. */
const NET_BELOW_MS = 10_000;

/** One attempt each: every retry is the story's decision and draws on its ledger. */
const once = {
  retry: { maximumAttempts: 1 },
  heartbeatTimeout: HEARTBEAT_TIMEOUT_MS,
  // A cancel counts once the work has really stopped.
  cancellationType: ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
} as const;

export interface RuntimeActivities {
  prepare(request: Partial<RunRequest>, runId: string): Promise<PrepareOutcome>;
  callModel(view: PlannerView): Promise<PlannerChoice>;
  review(view: ReviewView): Promise<Reviewed>;
  reconcile(request: ToolCallRequest): Promise<ReconcileOutcome>;
  recall(query: RecallQuery): Promise<RunLesson[]>;
  notify(notice: QuestionNotice): Promise<void>;
  record(batch: RecordBatch): Promise<void>;
  archive(archive: RunArchive): Promise<void>;
  archiveGuard(archive: GuardArchive): Promise<void>;
}

export function callTool(request: ToolCallRequest): Promise<CallSucceeded> {
  const tools = proxyActivities<Record<string, (request: ToolCallRequest) => Promise<CallSucceeded>>>({
    ...once,
    startToCloseTimeout: request.timeout_ms + NET_BELOW_MS,
    scheduleToStartTimeout: request.time_left_ms,
    summary: `step ${request.step_id} attempt ${request.attempt}`,
  });
  const tool = tools[toolActivity(request.tool)];
  if (tool === undefined) throw new TypeError(`No activity for ${request.tool}`);
  return tool(request);
}

/** A planner's turn and a review have what is left of the run's time, within a cap. */
const turn = (timeoutMs: number) =>
  proxyActivities<Pick<RuntimeActivities, 'callModel' | 'review'>>({
    ...once,
    startToCloseTimeout: timeoutMs + NET_BELOW_MS,
  });
export const callModel = (view: PlannerView): Promise<PlannerChoice> => turn(view.timeout_ms).callModel(view);
export const review = (view: ReviewView): Promise<Reviewed> => turn(view.timeout_ms).review(view);

export const { reconcile } = proxyActivities<Pick<RuntimeActivities, 'reconcile'>>({
  ...once,
  startToCloseTimeout: 120_000,
});

/**
 * The store's writes are idempotent, so Temporal may retry them: a store that is away for less than two minutes costs
 * nothing but time, and the run does not wait for it.
 */
const patient = {
  startToCloseTimeout: 10_000,
  scheduleToCloseTimeout: 120_000,
  retry: { initialInterval: 500, backoffCoefficient: 2, maximumInterval: 5_000 },
} as const;
export const { record, archive } = proxyActivities<Pick<RuntimeActivities, 'record' | 'archive'>>(patient);

/** From being scheduled to its answer: a memory that takes longer counts as not having seen the failure. */
const RECALL_MS = 2_000;
const quick = { scheduleToCloseTimeout: RECALL_MS, retry: { maximumAttempts: 1 } } as const;
export const { recall } = proxyActivities<Pick<RuntimeActivities, 'recall'>>(quick);

/** Webhooks have their own few tries inside; a worker that is lost in between may repeat them. */
const told = { startToCloseTimeout: 60_000, scheduleToCloseTimeout: 600_000, retry: { maximumAttempts: 3 } } as const;
export const { notify } = proxyActivities<Pick<RuntimeActivities, 'notify'>>(told);

/** A bare start waits for a worker as long as it takes; once one has it, a minute is enough for any number of faults. */
export const { prepare } = proxyActivities<Pick<RuntimeActivities, 'prepare'>>({
  startToCloseTimeout: 10_000,
  retry: { initialInterval: 500, maximumInterval: 10_000, maximumAttempts: 6 },
});

/** No end without it, or a guard's name could be taken again; so it waits for the store as long as that is away. */
export const { archiveGuard } = proxyActivities<Pick<RuntimeActivities, 'archiveGuard'>>({
  startToCloseTimeout: 10_000,
  retry: { initialInterval: 500, maximumInterval: 60_000 },
});

/** The memory of a workflow that is not ours: on the queue of a worker that has these activities. */
export function memoryActivities(
  taskQueue: string,
): Pick<RuntimeActivities, 'record' | 'archive' | 'recall' | 'notify'> {
  // A proxy has no members of its own to spread: each is named.
  const writes = proxyActivities<Pick<RuntimeActivities, 'record' | 'archive'>>({ ...patient, taskQueue });
  const memory = proxyActivities<Pick<RuntimeActivities, 'recall'>>({ ...quick, taskQueue });
  const people = proxyActivities<Pick<RuntimeActivities, 'notify'>>({ ...told, taskQueue });
  return { record: writes.record, archive: writes.archive, recall: memory.recall, notify: people.notify };
}
