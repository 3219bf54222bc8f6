import type { Client } from '@temporalio/client';
import { distinctTags } from '../../core/guardrails/bias-echo.ts';
import { findEarlierAnswer, completeLoop } from '../../core/guardrails/guard-family.ts';
import { type GuardPolicy, pickGuardPolicy } from '../../core/guardrails/guard-state.ts';
import type { LoopAnswer } from '../../core/guardrails/loop-answer.ts';
import type { GuardEnding, ReportExtras } from '../../core/guardrails/loop-guard.ts';
import { familyOf } from '../../core/guardrails/loop-ids.ts';
import type { LoopReport } from '../../core/guardrails/loop-report.ts';
import { GUARD_MESSAGE } from '../../protocol/names.ts';
import type { Store } from '../../store/store.ts';
import { GuardRefusedError } from '../guard-errors.ts';
import { findEnding, type Found, type GuardUpdate, NOT_OPEN, openGuard, updateGuard } from './guard-updates.ts';
import { isKnownRun } from './run-views.ts';

export interface ReportDeps {
  client: Client;
  store: Store | undefined;
  taskQueue: string;
  policy: GuardPolicy;
}

/**
 * Reports a pass that ran elsewhere to its guard. An open guard answers first; without one, the stored ending of the guard answers.
 * Only a family that neither Temporal nor the store knows gets a new guard. `isNew` is true if the store knows no owner of the family.
 */
export async function reportLoop(
  deps: ReportDeps,
  report: LoopReport,
  { bodyHash, isNew }: { bodyHash: string; isNew: boolean },
): Promise<LoopAnswer> {
  const family = familyOf(report.loop_id);
  const update: GuardUpdate = {
    family,
    name: GUARD_MESSAGE.loopComplete,
    // The id contains the hash, because Temporal repeats the old answer for a known id, even with other arguments.
    updateId: `${report.loop_id}:${bodyHash}`,
    args: [report, await readBiasCounts(deps, report, family, bodyHash)],
  };
  // The decision is computed here first, because a report that a new guard refuses would leave an empty guard behind.
  const tried = completeLoop(null, report, deps.policy, new Date().toISOString(), { bodyHash });
  // If the store does not know the family, Temporal almost never does, so a new guard is started right away.
  if (tried.ok && isNew && (await deps.store?.archivedGuards.get(family)) === null) {
    return open(deps, report, update, bodyHash);
  }
  const answer = await updateGuard<LoopAnswer>(deps.client, update);
  if (answer !== NOT_OPEN) return answer;
  const found = await findEnding(deps.client, deps.store, family);
  if (isEnding(found)) return answerFromEnding(found, report.loop_id, family, bodyHash);
  if (!tried.ok) throw new GuardRefusedError(tried);
  return open(deps, report, update, bodyHash);
}

async function open(deps: ReportDeps, report: LoopReport, update: GuardUpdate, bodyHash: string): Promise<LoopAnswer> {
  const { client, store, taskQueue, policy } = deps;
  const { family } = update;
  await store?.reservations.reserve({ run_id: null, loop_id: family }, (runId) => isKnownRun(client, runId));
  const start = { taskQueue, input: { policy: pickGuardPolicy(policy) } };
  const answer = await openGuard<LoopAnswer>(client, update, start);
  if (answer !== NOT_OPEN) return answer;
  // Another reporter has opened and ended the family in the meantime.
  const found = await findEnding(client, store, family);
  if (isEnding(found)) return answerFromEnding(found, report.loop_id, family, bodyHash);
  const detail = `The guard of ${family} is just starting or ending.`;
  throw new GuardRefusedError({ problem: 'loop_running', detail });
}

export const isEnding = (found: Found): found is GuardEnding => typeof found !== 'string';

function answerFromEnding({ state }: GuardEnding, loopId: string, family: string, bodyHash: string): LoopAnswer {
  const given = findEarlierAnswer(state, loopId, bodyHash);
  if (given?.ok === true) return given.answer;
  const stopped = { problem: 'ended', detail: `The guard of ${family} was stopped; its name stays taken.` } as const;
  throw new GuardRefusedError(given ?? stopped);
}

/** Reads the bias counts of other families. Without the store, a policy that counts within one family still works. */
async function readBiasCounts(
  { policy, store }: ReportDeps,
  report: LoopReport,
  family: string,
  bodyHash: string,
): Promise<ReportExtras> {
  const tags = distinctTags(report.reflection_result?.bias_tags);
  if (store === undefined || tags.length === 0) return { body_hash: bodyHash };
  // A family may have a policy of its own, so the counts are read for every policy. The guard leaves out what it does not count.
  const counts = Promise.all([store.biasCounts.acrossFamilies(tags), store.biasCounts.ofFamily(family)]);
  const read = await counts.catch((error: unknown) => {
    if (policy.bias.scope === 'global') throw error;
    return null;
  });
  if (read === null) return { body_hash: bodyHash };
  const [all, own] = read;
  const elsewhere = tags.map((tag): [string, number] => [tag, (all[tag] ?? 0) - (own[tag] ?? 0)]);
  return { body_hash: bodyHash, bias_elsewhere: Object.fromEntries(elsewhere) };
}
