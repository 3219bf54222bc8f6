import { getClient, log } from '@temporalio/activity';
import { WorkflowNotFoundError } from '@temporalio/common';
import type { Redact } from '../core/redaction/redact.ts';
import { prepareRun } from '../define/prepare-run.ts';
import type { Registry } from '../define/registry.ts';
import { FamilyTakenError, RunExistsError } from '../protocol/errors.ts';
import { workflowIdOfRun } from '../protocol/ids.ts';
import type { PreparedRun, PrepareOutcome, RequestProblem } from '../protocol/run.ts';
import type { Reservations } from '../store/reservations.ts';
import { loadStartMemory } from '../store/start-memory.ts';
import { createGuardArchiveActivities, type GuardArchiveStore } from './guard-archive.ts';
import { withCleanErrors } from './clean-errors.ts';
import { createNotifyActivities } from './notify.ts';
import { createPlannerActivities } from './planner.ts';
import { createRecallActivities } from './recall.ts';
import { createRecordActivities } from './records.ts';
import { createReviewActivities } from './review.ts';
import { withHeartbeat } from './run-in-activity.ts';
import type { ActivityStore } from './store-port.ts';
import { createToolActivities } from './tools/create-tool-activities.ts';
import { createStoreWait } from './wait-for-store.ts';

export interface ActivityDeps {
  registry: Registry;
  store: ActivityStore & Partial<GuardArchiveStore & { reservations: Reservations }>;
  /** Takes secrets out of what people read: records, previews, logs. */
  redact: Redact;
  /** Takes the values of known secrets out of what a model is sent. */
  maskKnown: Redact;
  /** False if nobody is to see the answers of models while they arrive. Default: true. */
  streaming?: boolean;
  /** The length of the longest known secret that contains spaces. Streamed text lags behind by as much. */
  holdChars?: number;
  /** Says which model to use for agents that name none: `OPENAI_BASE_URL`, `OPENAI_API_KEY`, `MODEL`. */
  environment?: Record<string, string | undefined>;
  /**
   * True if the Temporal server has our search attributes. A run started from the bare `temporal` command learns it
   * from `prepare`.
   */
  searchAttributes?: boolean;
  /** Where the settings of webhooks are read from. Default: `process.env`. */
  env?: NodeJS.ProcessEnv;
}

/** Creates all activities that a worker offers to runs and guards. */
export function createActivities(deps: ActivityDeps) {
  return withCleanErrors(deps.redact, {
    ...createToolActivities(deps),
    ...createPlannerActivities(deps),
    ...createReviewActivities(deps),
    ...createRecordActivities(deps.store, deps.redact),
    ...createRecallActivities(deps.store),
    ...createNotifyActivities({ env: deps.env ?? process.env, redact: deps.redact }),
    ...createGuardArchiveActivities(deps.store),
    prepare: async (request: unknown, runId: string): Promise<PrepareOutcome> => {
      const outcome = prepareRun(request, deps.registry, runId);
      if (!outcome.ok) return outcome;
      const problems = await withHeartbeat((call) =>
        createStoreWait(call)('reserve the names of the run', () =>
          reserveNames(deps.store.reservations, outcome.prepared),
        ),
      );
      if (problems.length > 0) return { ok: false, problems };
      const prepared = await withMemory(deps.store, outcome.prepared);
      return { ok: true, prepared, search_attributes: deps.searchAttributes === true };
    },
  });
}

async function withMemory({ startMemory }: ActivityStore, prepared: PreparedRun): Promise<PreparedRun> {
  if (startMemory === undefined) return prepared;
  const { run_id } = prepared;
  const warn = (reason: string): void => log.warn('start_memory_failed', { run_id, reason });
  return { ...prepared, memory: await loadStartMemory(startMemory, prepared, { log: warn }) };
}

/**
 * Reserves the names of a run, as a client does before a start. Reserving them again for the same run changes nothing,
 * so the activity can be retried.
 */
async function reserveNames(reservations: Reservations | undefined, run: PreparedRun): Promise<RequestProblem[]> {
  try {
    await reservations?.reserve({ run_id: run.run_id, loop_id: run.loop_id }, isKnownRun);
    return [];
  } catch (error) {
    if (error instanceof FamilyTakenError) {
      return [{ path: '$.loop_id', message: `${error.message.replace(/\.$/, '')}; choose another loop_id` }];
    }
    // The same run id was started before, with another loop_id.
    if (error instanceof RunExistsError) {
      return [
        { path: '$.loop_id', message: `the loops of the run ${run.run_id} have another name; start another run` },
      ];
    }
    throw error;
  }
}

async function isKnownRun(runId: string): Promise<boolean> {
  try {
    await getClient().workflow.getHandle(workflowIdOfRun(runId)).describe();
    return true;
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return false;
    throw error;
  }
}
