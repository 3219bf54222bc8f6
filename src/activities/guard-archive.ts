import type { GuardArchive } from '../core/guardrails/loop-guard.ts';
import type { GuardDecision } from '../protocol/guard-decisions.ts';
import { decisionId } from '../protocol/ids.ts';

/** The parts of the store that are written when a guard ends. */
export interface GuardArchiveStore {
  archivedGuards: { put(guard: GuardArchive): Promise<unknown> };
  /** Absent in a store that keeps no decisions. */
  guardDecisions?: { append(decisions: readonly GuardDecision[], agent: string | null): Promise<unknown> };
  biasCounts: { add(seen: { family: string; loop_id: string; tags: readonly string[] }): Promise<unknown> };
}

/**
 * Creates `archiveGuard`, the only write of a guard. It can be retried safely: both parts ignore a repeated write. A
 * worker whose store keeps no guards does not offer this activity, so the write waits for a worker that does.
 */
export function createGuardArchiveActivities({
  archivedGuards,
  biasCounts,
  guardDecisions,
}: Partial<GuardArchiveStore>) {
  if (archivedGuards === undefined || biasCounts === undefined) return {};
  return {
    archiveGuard: async (guard: GuardArchive): Promise<void> => {
      // The guard's row is written last, so if it exists, its bias counts exist too.
      for (const { loop_id, verdict } of guard.ending.state?.loops ?? []) {
        const tags = Object.keys(verdict?.repetition_counts ?? {});
        if (tags.length > 0) await biasCounts.add({ family: guard.family, loop_id, tags });
      }
      await guardDecisions?.append(decisionsOf(guard), null);
      await archivedGuards.put(guard);
    },
  };
}

/** The guardrail that ended the family, if one did. */
function decisionsOf({ family, ending }: GuardArchive): GuardDecision[] {
  return (ending.state?.loops ?? []).flatMap(({ loop_id, verdict }, index) => {
    if (verdict?.ruling.decision !== 'finalize' || !verdict.ruling.force_finalize) return [];
    const { finalize_reason: rule } = verdict.ruling;
    const scores = `alignment ${verdict.review.alignment_score}, drift ${verdict.review.drift_score}`;
    return [
      {
        decision_id: decisionId(family, index + 1),
        run_id: family,
        kind: 'guardrail',
        rule,
        action: 'finalize',
        why: `the family ended after pass ${index + 1} (${scores})`,
        loop_id,
        step_id: null,
        fingerprint: null,
        at: verdict.at,
      },
    ];
  });
}
