import { log as activityLog } from '@temporalio/activity';
import { MAX_LESSONS } from '../core/lessons/rank-lessons.ts';
import type { RecallQuery, RunLesson } from '../protocol/lessons.ts';
import { toRunLesson } from '../store/start-memory.ts';
import { within } from '../protocol/within.ts';
import type { ActivityStore } from './store-port.ts';
import type { WarnLog } from './write-parts.ts';

/** Within the two seconds that a run waits, with room for the way back. */
const DEADLINE_MS = 1_800;

/** `recall`: lessons about a failure. Memory is a help, never a gate: one that is late or away has seen nothing. */
export function createRecallActivities(
  { reflections }: Pick<ActivityStore, 'reflections'>,
  log: WarnLog = activityLog,
  deadlineMs: number = DEADLINE_MS,
) {
  return {
    recall: async ({ run_id, ...query }: RecallQuery): Promise<RunLesson[]> => {
      if (reflections === undefined) return [];
      try {
        // The server is told the deadline too, so that nobody goes on searching for one who has left.
        const limits = { limit: MAX_LESSONS, timeout_ms: deadlineMs };
        const found = await within(deadlineMs, () => reflections.recallForFailure({ ...query, ...limits }));
        return found.slice(0, MAX_LESSONS).map(toRunLesson);
      } catch (error) {
        const reason = error instanceof Error ? error.message : String(error);
        log.warn('recall_failed', { run_id, fingerprint: query.fingerprint, reason });
        return [];
      }
    },
  };
}
