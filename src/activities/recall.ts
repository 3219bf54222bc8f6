import { log as activityLog } from '@temporalio/activity';
import { findChangedTool } from '../core/lessons/changed-schema.ts';
import { MAX_LESSONS } from '../core/lessons/rank-lessons.ts';
import type { RecallQuery, RunLesson } from '../protocol/lessons.ts';
import { toRunLesson } from '../store/start-memory.ts';
import { within } from '../protocol/within.ts';
import type { ActivityStore } from './store-port.ts';
import type { WarnLog } from './write-parts.ts';

/** A run waits two seconds for lessons; this leaves time for the answer to travel back. */
const DEADLINE_MS = 1_800;

/**
 * Creates `recall`, which finds lessons about a failure. A run does not depend on it: if the store is slow or
 * unavailable, it returns no lessons.
 */
export function createRecallActivities(
  { reflections }: Pick<ActivityStore, 'reflections'>,
  log: WarnLog = activityLog,
  deadlineMs: number = DEADLINE_MS,
) {
  return {
    recall: async ({
      run_id,
      tenant = null,
      tool_schemas = {},
      similarity_threshold: _joins,
      ...query
    }: RecallQuery): Promise<RunLesson[]> => {
      if (reflections === undefined) return [];
      try {
        // Postgres gets the deadline too, so that it stops a search whose result is no longer wanted.
        const limits = { limit: MAX_LESSONS, timeout_ms: deadlineMs };
        const found = await within(deadlineMs, async () => {
          const recalled = await reflections.recallForFailure({ ...query, tenant, ...limits });
          const schemas = await reflections.schemasOf?.(recalled.map(({ id }) => id));
          return recalled.filter(({ id, pinned }) => pinned || !findChangedTool(schemas?.get(id) ?? [], tool_schemas));
        });
        return found.slice(0, MAX_LESSONS).map((lesson) => ({
          ...toRunLesson(lesson),
          ...(lesson.reason === 'similar' && { similar: true as const }),
        }));
      } catch (error) {
        const reason = error instanceof Error ? error.message : String(error);
        log.warn('recall_failed', { run_id, fingerprint: query.fingerprint, reason });
        return [];
      }
    },
  };
}
