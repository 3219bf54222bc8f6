import type { GuardArchive } from '../core/guardrails/loop-guard.ts';

/** What the end of a guard needs from a store. */
export interface GuardArchiveStore {
  archivedGuards: { put(guard: GuardArchive): Promise<unknown> };
  biasCounts: { add(seen: { family: string; loop_id: string; tags: readonly string[] }): Promise<unknown> };
}

/**
 * `archiveGuard`: the one write of a guard. Both parts may arrive twice and count once. A worker whose store keeps no
 * guards does not offer it, so the write waits for one that does.
 */
export function createGuardArchiveActivities({ archivedGuards, biasCounts }: Partial<GuardArchiveStore>) {
  if (archivedGuards === undefined || biasCounts === undefined) return {};
  return {
    archiveGuard: async (guard: GuardArchive): Promise<void> => {
      // The row last: when it is there, the counts are.
      for (const { loop_id, verdict } of guard.ending.state?.loops ?? []) {
        const tags = Object.keys(verdict?.repetition_counts ?? {});
        if (tags.length > 0) await biasCounts.add({ family: guard.family, loop_id, tags });
      }
      await archivedGuards.put(guard);
    },
  };
}
