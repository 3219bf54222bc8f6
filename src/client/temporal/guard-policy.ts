import { checkPolicyMessage, type FamilyPolicy, type PolicyMessage } from '../../core/guardrails/guard-policy.ts';
import { pickGuardPolicy } from '../../core/guardrails/guard-state.ts';
import { familyOf, isRerunId } from '../../core/guardrails/loop-ids.ts';
import { hashOfJson } from '../../protocol/ids.ts';
import { GUARD_MESSAGE, GUARD_QUERY } from '../../protocol/names.ts';
import { GuardRefusedError } from '../guard-errors.ts';
import { findEnding, type GuardUpdate, NOT_OPEN, openGuard } from './guard-updates.ts';
import { isEnding } from './report-loop.ts';
import { isKnownRun } from './run-views.ts';
import { askGuard, findOwner, type GuardDeps, withDeadline } from './temporal-guards.ts';

/** Returns the policy of a family that runs elsewhere, also after its end. */
export async function guardPolicy(deps: GuardDeps, loopId: string): Promise<FamilyPolicy> {
  await refuseOwnLoop(deps, loopId);
  const policy = await askGuard(deps, loopId, GUARD_QUERY.policy, (ending) => ending.policy ?? null);
  if (policy !== null) return policy;
  throw new GuardRefusedError({
    problem: 'ended',
    detail: `${loopId} ended under a build that did not keep its policy.`,
  });
}

/** Sets the policy of a family before its first report. It opens the guard of the family, which then waits for that report. */
export async function setGuardPolicy(deps: GuardDeps, loopId: string, body: PolicyMessage): Promise<FamilyPolicy> {
  const errors = checkPolicyMessage(body);
  if (errors.length > 0) {
    throw new GuardRefusedError({ problem: 'invalid_policy', detail: 'The policy is invalid.', errors });
  }
  await refuseOwnLoop(deps, loopId);
  if (isRerunId(loopId)) {
    const detail = `${loopId} ends in _r<n>, so it is a rerun; set the policy of the first loop of its family.`;
    throw new GuardRefusedError({ problem: 'not_a_first_loop', detail });
  }
  const { client, store, taskQueue, policy } = deps;
  const family = familyOf(loopId);
  return withDeadline(deps, loopId, async () => {
    const known = await findEnding(client, store, family);
    if (isEnding(known)) throw endedFamily(family);
    if (known === 'unknown') {
      await store?.reservations.reserve({ run_id: null, loop_id: family }, (runId) => isKnownRun(client, runId));
    }
    const update: GuardUpdate = {
      family,
      name: GUARD_MESSAGE.setPolicy,
      // A person may set an earlier policy again, so the id is not the hash of the body alone.
      updateId: `policy:${hashOfJson([body, Date.now()])}`,
      args: [body],
    };
    const answer = await openGuard<FamilyPolicy>(client, update, {
      taskQueue,
      input: { policy: pickGuardPolicy(policy) },
    });
    if (answer === NOT_OPEN) throw endedFamily(family);
    return answer;
  });
}

const endedFamily = (family: string): GuardRefusedError =>
  new GuardRefusedError({ problem: 'ended', detail: `The family ${family} has ended; its policy cannot be set.` });

async function refuseOwnLoop(deps: GuardDeps, loopId: string): Promise<void> {
  const owner = await findOwner(deps, loopId);
  if (owner.kind !== 'run') return;
  const detail = `${loopId} belongs to the run ${owner.runId}, whose policy was set when it started.`;
  throw new GuardRefusedError({ problem: 'unknown_loop', detail });
}
