import { ApplicationFailure } from '@temporalio/common';
import { allHandlersFinished, CancellationScope, condition, workflowInfo } from '@temporalio/workflow';
import { closeFamily, type GuardPolicy, pickGuardPolicy } from '../core/guardrails/guard-state.ts';
import { checkPolicy } from '../core/policy/check-policy.ts';
import { mergePolicy } from '../core/policy/merge-policy.ts';
import { familyOfGuardWorkflow } from '../protocol/ids.ts';
import { archiveGuard } from './activity-proxies.ts';
import { acceptGuardMessages, answerGuardQueries, describePolicy, type Guard } from './loop-guard-messages.ts';
import type { GuardEnding, LoopGuardInput } from '../core/guardrails/loop-guard.ts';

// oxlint-disable-next-line no-restricted-globals -- in a workflow the SDK's Date is the deterministic clock
const now = (): string => new Date(Date.now()).toISOString();

/**
 * The guardrails of one family of loops that another orchestrator runs and reports here. The workflow waits without a
 * timer, for months if needed. It never continues as new, so the server knows every update id until the end. The policy
 * limits its state: 1 + max_reruns + max_overrides loops, and the overrides that the ledger keeps.
 */
export async function loopGuard(given?: LoopGuardInput | null): Promise<GuardEnding> {
  const { workflowId, startTime } = workflowInfo();
  const policy = resolveGuardPolicy(given ?? {});
  const family = familyOfGuardWorkflow(workflowId) ?? workflowId;
  const guard: Guard = { family, policy, policySet: null, state: null, cancelled: false, ignored: [] };
  acceptGuardMessages(guard, now);
  answerGuardQueries(guard);

  // A cancel ends the family. Writing the ending is not cancelled, so that it is kept like any other.
  return CancellationScope.nonCancellable(async () => {
    endWhenCancelled(guard);
    await condition(() => guard.cancelled || (guard.state !== null && guard.state.ended !== null));
    const ending: GuardEnding = {
      version: 1,
      state: guard.state,
      ignored: guard.ignored,
      policy: describePolicy(guard),
    };
    const ended_at = guard.state?.ended?.at ?? now();
    // The archive is written before the workflow ends: after Temporal has deleted the workflow, only this row keeps its
    // name from being used again. Messages that arrive in the meantime cannot change the ending.
    await archiveGuard({ family, ending, started_at: startTime.toISOString(), ended_at });
    await condition(allHandlersFinished);
    return ending;
  });
}

function endWhenCancelled(guard: Guard): void {
  const root = CancellationScope.current().parent ?? CancellationScope.current();
  root.cancelRequested.catch(() => {
    guard.cancelled = true;
    if (guard.state !== null) guard.state = closeFamily(guard.state, now());
  });
}

/** Checks the policy, because a guard can be started without our client and a misspelled setting would be ignored. */
function resolveGuardPolicy({ policy, max_reruns }: LoopGuardInput): GuardPolicy {
  const patches = [policy ?? undefined, max_reruns === undefined ? undefined : { reruns: { max_reruns } }];
  const problems = patches.flatMap((patch) => checkPolicy(patch));
  if (problems.length === 0) return pickGuardPolicy(mergePolicy(...patches));
  const told = problems.map(({ path, message }) => `${path}: ${message}`).join('; ');
  throw ApplicationFailure.nonRetryable(told, 'invalid_policy', problems);
}
