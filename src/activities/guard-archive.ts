import type { GuardArchive } from '../core/guardrails/loop-guard.ts';

/** The parts of the store that are written when a guard ends. */
export interface GuardArchiveStore {
  archivedGuards: { put(guard: GuardArchive): Promise<unknown> };
  biasCounts: { add(seen: { family: string; loop_id: string; tags: readonly string[] }): Promise<unknown> };
}

/**
 * Creates `archiveGuard`, the only write of a guard. It can be retried safely: both parts ignore a repeated write. A
 * worker whose store keeps no guards does not offer this activity, so the write waits for a worker that does.
 */
export function createGuardArchiveActivities({ archivedGuards, biasCounts }: Partial<GuardArchiveStore>) {
  if (archivedGuards === undefined || biasCounts === undefined) return {};
  return {
    archiveGuard: async (guard: GuardArchive): Promise<void> => {
      // The guard's row is written last, so if it exists, its bias counts exist too.
      for (const { loop_id, verdict } of guard.ending.state?.loops ?? []) {
        const tags = Object.keys(verdict?.repetition_counts ?? {});
        if (tags.length > 0) await biasCounts.add({ family: guard.family, loop_id, tags });
      }
      await archivedGuards.put(guard);
    },
  };
}
