import type { Client } from '@temporalio/client';
import { type GuardPolicy, guardPolicyOf } from '../../core/guardrails/guard-state.ts';
import type { LoopAnswer } from '../../core/guardrails/loop-answer.ts';
import type { Refusal } from '../../core/guardrails/refusal.ts';
import { answerGivenBefore, completeLoop } from '../../core/guardrails/guard-family.ts';
import { errorsOfReport, type LoopReport } from '../../core/guardrails/loop-report.ts';
import { familyOf } from '../../core/guardrails/loop-ids.ts';
import { tagsOfLoop, type BiasCounts } from '../../core/guardrails/bias-echo.ts';
import { hashOfJson } from '../../protocol/ids.ts';
import { claimFamily, type FamilyStore } from '../families.ts';
import { isKnown } from '../runs/ask-run.ts';
import { GUARD_MESSAGE } from '../../protocol/names.ts';
import type { ReportExtras } from '../../core/guardrails/loop-guard.ts';
import { GuardRefusedError } from './guard-errors.ts';
import { findEnding, type Found, type GuardArchiveReader } from './find-ending.ts';
import { type GuardUpdate, NOT_OPEN, openGuard, updateGuard } from './send-update.ts';

export interface GuardStore extends Partial<FamilyStore> {
  archivedGuards: GuardArchiveReader;
  /** Asked only where the policy counts bias over all families. */
  biasCounts?: {
    acrossFamilies(tags: readonly string[]): Promise<BiasCounts>;
    ofFamily(family: string): Promise<BiasCounts>;
  };
}

export interface GuardDeps {
  client: Client;
  store: GuardStore | undefined;
  taskQueue: string;
  policy: GuardPolicy;
}

export interface ReportOptions {
  /** `hashOfJson` of the body as it was sent, when a review was added to it since. */
  bodyHash?: string;
}

/**
 * One report in, one answer out. An open guard is asked first; where there is none, an ending answers; only a family that
 * neither Temporal nor the store has ever heard of gets a guard.
 */
export async function reportLoop(deps: GuardDeps, body: unknown, options: ReportOptions = {}): Promise<LoopAnswer> {
  const errors = errorsOfReport(body);
  if (errors.length > 0) throw refused({ problem: 'invalid_report', detail: 'The report cannot be read.', errors });
  const report = body as LoopReport;
  const family = familyOf(report.loop_id);
  const bodyHash = options.bodyHash ?? hashOfJson(report);
  const update: GuardUpdate = {
    family,
    name: GUARD_MESSAGE.loopComplete,
    // With the hash, because the server answers a known id with its old answer whatever the arguments are.
    updateId: `${report.loop_id}:${bodyHash}`,
    args: [report, await extrasOf(deps, report, family, bodyHash)],
  };
  // Tried here first: a report that the new guard refused would leave an empty guard behind.
  const tried = completeLoop(null, report, deps.policy, new Date().toISOString(), { bodyHash });
  if (tried.ok && (await isUnheardOf(deps, family))) return open(deps, report, update, bodyHash);
  const answer = await updateGuard<LoopAnswer>(deps.client, update);
  if (answer !== NOT_OPEN) return answer;
  const found = await findEnding(deps.client, family, deps.store?.archivedGuards);
  if (isEnding(found)) return answerOfEnding(found, report.loop_id, family, bodyHash);
  if (!tried.ok) throw new GuardRefusedError(tried);
  return open(deps, report, update, bodyHash);
}

/** What the store does not know is most likely new: asking Temporal for it first would be in vain. */
async function isUnheardOf({ store }: GuardDeps, family: string): Promise<boolean> {
  if (store?.loopFamilies === undefined) return false;
  try {
    const [owner, ending] = await Promise.all([store.loopFamilies.ownerOf(family), store.archivedGuards.get(family)]);
    return owner === null && ending === null;
  } catch {
    // An open guard answers without the store.
    return false;
  }
}

async function open(deps: GuardDeps, report: LoopReport, update: GuardUpdate, bodyHash: string): Promise<LoopAnswer> {
  const { loopFamilies } = deps.store ?? {};
  const known = (runId: string): Promise<boolean> => isKnown(deps.client, runId);
  if (loopFamilies) await claimFamily(known, { loopFamilies }, update.family, { run_id: null });
  const start = { taskQueue: deps.taskQueue, input: { policy: guardPolicyOf(deps.policy) } };
  const answer = await openGuard<LoopAnswer>(deps.client, update, start);
  if (answer !== NOT_OPEN) return answer;
  // Somebody else opened the family and brought it to its end meanwhile.
  const found = await findEnding(deps.client, update.family, deps.store?.archivedGuards);
  if (isEnding(found)) return answerOfEnding(found, report.loop_id, update.family, bodyHash);
  throw refused({ problem: 'loop_running', detail: `The guard of ${update.family} is just beginning or ending.` });
}

export const isEnding = (found: Found): found is Exclude<Found, string> => typeof found !== 'string';

function answerOfEnding(
  { state }: Exclude<Found, string>,
  loopId: string,
  family: string,
  bodyHash: string,
): LoopAnswer {
  const given = answerGivenBefore(state, loopId, bodyHash);
  if (given?.ok === true) return given.answer;
  throw given === null
    ? refused({ problem: 'ended', detail: `The guard of ${family} was stopped; its name stays taken.` })
    : new GuardRefusedError(given);
}

async function extrasOf(
  { policy, store }: GuardDeps,
  report: LoopReport,
  family: string,
  bodyHash: string,
): Promise<ReportExtras> {
  const tags = tagsOfLoop(report.reflection_result?.bias_tags);
  if (policy.bias.scope !== 'global' || store?.biasCounts === undefined || tags.length === 0) {
    return { body_hash: bodyHash };
  }
  const [all, own] = await Promise.all([store.biasCounts.acrossFamilies(tags), store.biasCounts.ofFamily(family)]);
  const elsewhere = tags.map((tag): [string, number] => [tag, (all[tag] ?? 0) - (own[tag] ?? 0)]);
  return { body_hash: bodyHash, bias_elsewhere: Object.fromEntries(elsewhere) };
}

export const refused = (refusal: Omit<Refusal, 'ok'>): GuardRefusedError =>
  new GuardRefusedError({ ok: false, ...refusal });
