import { defined } from '../protocol/json.ts';
import { ActivityCancellationType, proxyActivities } from '@temporalio/workflow';
import type { PlannerChoice, PlannerView, Reviewed, ReviewView } from '../core/run/ports.ts';
import { CAP } from '../protocol/caps.ts';
import { toolActivity } from '../protocol/names.ts';
import type { RecallQuery, RunLesson } from '../protocol/lessons.ts';
import type { QuestionNotice } from '../protocol/notices.ts';
import type { Execution, RecordBatch, RunArchive } from '../protocol/records.ts';
import type { PrepareOutcome, RunRequest } from '../protocol/run.ts';
import type {
  CallSucceeded,
  CheckedInput,
  CheckedOutput,
  InputToCheck,
  OutputToCheck,
  ReconcileOutcome,
  ToolCallRequest,
} from '../protocol/tools.ts';
import type { GuardArchive } from '../core/guardrails/loop-guard.ts';

/** A lost worker is noticed after this time. The activity runner sends a heartbeat every second. */
const HEARTBEAT_TIMEOUT_MS = 5_000;
/**
 * Added to the tool's timeout for Temporal's own timeout, because the runner ends a tool at its timeout and reports it;
 * Temporal only has to act when the runner cannot.
 */
const TIMEOUT_MARGIN_MS = 10_000;

/** Temporal makes one attempt, because `core/run` decides about every retry and charges it to the ledger. */
const singleAttempt = {
  retry: { maximumAttempts: 1 },
  heartbeatTimeout: HEARTBEAT_TIMEOUT_MS,
  // A cancelled call counts as ended only after its work has really stopped.
  cancellationType: ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
} as const;

export interface RuntimeActivities {
  prepare(request: Partial<RunRequest>, runId: string): Promise<PrepareOutcome>;
  callModel(view: PlannerView): Promise<PlannerChoice>;
  review(view: ReviewView): Promise<Reviewed>;
  reconcile(request: ToolCallRequest): Promise<ReconcileOutcome>;
  checkOutput(request: OutputToCheck): Promise<CheckedOutput>;
  checkInput(request: InputToCheck): Promise<CheckedInput>;
  recall(query: RecallQuery): Promise<RunLesson[]>;
  notify(notice: QuestionNotice): Promise<void>;
  record(batch: RecordBatch): Promise<void>;
  archive(archive: RunArchive, run?: Execution): Promise<void>;
  archiveGuard(archive: GuardArchive): Promise<void>;
}

/** How long a tool may take to stop after its time is up; the runner leaves it behind after that. */
const STOP_GRACE_MS = 3_000;

/**
 * How long an attempt may still act after its worker stopped answering. The worker may only be frozen: when it wakes up, the
 * attempt acts until its own timeout. It was started at least one heartbeat timeout ago.
 */
export const mayActMs = ({ timeout_ms }: ToolCallRequest): number =>
  Math.max(0, timeout_ms + STOP_GRACE_MS - HEARTBEAT_TIMEOUT_MS);

export function callTool(request: ToolCallRequest): Promise<CallSucceeded> {
  const tools = proxyActivities<Record<string, (request: ToolCallRequest) => Promise<CallSucceeded>>>({
    ...singleAttempt,
    // Long, because heartbeats notice a lost worker, and the worker itself ends a tool that takes too long.
    startToCloseTimeout: request.timeout_ms + CAP.storeWaitMs + CAP.uncarriedWaitMs + TIMEOUT_MARGIN_MS,
    scheduleToStartTimeout: request.time_left_ms,
    summary: `step ${request.step_id} attempt ${request.attempt}`,
  });
  const tool = tools[toolActivity(request.tool)];
  if (tool === undefined) throw new TypeError(`No activity for ${request.tool}`);
  return tool(request);
}

/** A planner's turn and a review may take what is left of the run's time, within a cap. */
const turn = (timeoutMs: number) =>
  proxyActivities<Pick<RuntimeActivities, 'callModel' | 'review'>>({
    ...singleAttempt,
    startToCloseTimeout: timeoutMs + CAP.storeWaitMs + TIMEOUT_MARGIN_MS,
  });
export const callModel = (view: PlannerView): Promise<PlannerChoice> => turn(view.timeout_ms).callModel(view);
export const review = (view: ReviewView): Promise<Reviewed> => turn(view.timeout_ms).review(view);

export const { reconcile } = proxyActivities<Pick<RuntimeActivities, 'reconcile'>>({
  ...singleAttempt,
  startToCloseTimeout: 120_000 + CAP.storeWaitMs + CAP.uncarriedWaitMs,
});

/**
 * The store's writes are idempotent, so Temporal may retry them. A store that restarts is back before the fifth attempt,
 * 8 s later. When it is away for longer the run goes on: what was to be written is in its history.
 */
const storeWrites = {
  startToCloseTimeout: 10_000,
  scheduleToCloseTimeout: 120_000,
  retry: { initialInterval: 500, backoffCoefficient: 2, maximumInterval: 5_000, maximumAttempts: 5 },
} as const;
export const { record, archive } = proxyActivities<Pick<RuntimeActivities, 'record' | 'archive'>>(storeWrites);
/** Checking an output that a person gave changes nothing either. */
export const { checkOutput } = proxyActivities<Pick<RuntimeActivities, 'checkOutput'>>(storeWrites);

/** A person waits for the answer, so a worker has to take it soon; the person can send the answer again. */
export const { checkInput } = proxyActivities<Pick<RuntimeActivities, 'checkInput'>>({
  startToCloseTimeout: 10_000,
  scheduleToCloseTimeout: 20_000,
  retry: { initialInterval: 500, maximumAttempts: 3 },
});

/** The archive of a run that has ended waits for the store as long as the store is away; nothing waits for the archive. */
export const { archive: archivePatiently } = proxyActivities<Pick<RuntimeActivities, 'archive'>>({
  startToCloseTimeout: 60_000,
  retry: { initialInterval: 1_000, backoffCoefficient: 2, maximumInterval: 15_000 },
});

/** The longest time from scheduling to the answer. When the memory takes longer, the run continues without lessons. */
const RECALL_MS = 2_000;
const shortRecall = { scheduleToCloseTimeout: RECALL_MS, retry: { maximumAttempts: 1 } } as const;
export const { recall } = proxyActivities<Pick<RuntimeActivities, 'recall'>>(shortRecall);

/** The activity itself retries webhooks a few times. If its worker is lost, Temporal may repeat them. */
const webhooks = {
  startToCloseTimeout: 60_000,
  scheduleToCloseTimeout: 600_000,
  retry: { maximumAttempts: 3 },
} as const;
export const { notify } = proxyActivities<Pick<RuntimeActivities, 'notify'>>(webhooks);

/**
 * A start from the `temporal` command line waits for a worker without a limit. After a worker has taken it, six
 * attempts are enough.
 */
export const { prepare } = proxyActivities<Pick<RuntimeActivities, 'prepare'>>({
  startToCloseTimeout: CAP.storeWaitMs + TIMEOUT_MARGIN_MS,
  heartbeatTimeout: HEARTBEAT_TIMEOUT_MS,
  retry: { initialInterval: 500, maximumInterval: 10_000, maximumAttempts: 6 },
});

/**
 * A guard does not end before this write succeeds, because otherwise its name could be used again. It retries without a
 * limit.
 */
export const { archiveGuard } = proxyActivities<Pick<RuntimeActivities, 'archiveGuard'>>({
  startToCloseTimeout: 10_000,
  retry: { initialInterval: 500, maximumInterval: 60_000 },
});

/** The activities that write and query the memory. */
export type MemoryActivities = Pick<RuntimeActivities, 'record' | 'archive' | 'recall' | 'notify'>;

/**
 * Memory activities for a user's own workflow, on the task queue of a worker that registers them. If `waitMs` is given,
 * a write or a query fails after this time unless a worker has taken it.
 */
export function memoryActivities(taskQueue: string, waitMs?: number): MemoryActivities {
  const where = { taskQueue, ...defined({ scheduleToStartTimeout: waitMs }) };
  // A proxy cannot be spread because it has no own members, so each activity is named.
  const writes = proxyActivities<Pick<RuntimeActivities, 'record' | 'archive'>>({ ...storeWrites, ...where });
  const memory = proxyActivities<Pick<RuntimeActivities, 'recall'>>({ ...shortRecall, ...where });
  const people = proxyActivities<Pick<RuntimeActivities, 'notify'>>({ ...webhooks, taskQueue });
  return { record: writes.record, archive: writes.archive, recall: memory.recall, notify: people.notify };
}
