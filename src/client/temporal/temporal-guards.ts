import { v7 as uuidV7 } from 'uuid';
import { applyOverride, listOverrides, type OverrideAnswer } from '../../core/guardrails/family-overrides.ts';
import type { GuardState } from '../../core/guardrails/guard-state.ts';
import { buildGuardrailsStatus, type GuardrailsStatus } from '../../core/guardrails/guardrails-status.ts';
import type { LoopAnswer } from '../../core/guardrails/loop-answer.ts';
import type { GuardEnding, GuardTrace } from '../../core/guardrails/loop-guard.ts';
import { familyOf } from '../../core/guardrails/loop-ids.ts';
import { checkReport, type LoopReport } from '../../core/guardrails/loop-report.ts';
import { buildLoopTrace } from '../../core/guardrails/loop-trace.ts';
import type { OverrideRequest } from '../../core/guardrails/overrides.ts';
import { NotReachableError } from '../../protocol/errors.ts';
import { defaultLoopId, hashOfJson, isId, workflowIdOfGuard } from '../../protocol/ids.ts';
import { GUARD_MESSAGE, QUERY } from '../../protocol/names.ts';
import { GuardRefusedError } from '../guard-errors.ts';
import type { CallOptions, Guards } from '../secondwind-client.ts';
import { isDeadline } from './grpc-errors.ts';
import { findEnding, NOT_OPEN, noAnswer, updateGuard } from './guard-updates.ts';
import { awaitOwnDecision, type OwnLoops, overrideOwnLoop, readOwnStatus, readOwnTrace } from './own-loops.ts';
import { isEnding, type ReportDeps, reportLoop } from './report-loop.ts';
import { isKnownRun } from './run-views.ts';

/** Long enough for another worker to take over from one that was killed. */
export const DECISION_DEADLINE_MS = 30_000;
/** A worker answers a query in milliseconds. Without a worker the query would wait until one starts. */
const QUERY_DEADLINE_MS = 2_000;

/** Options of `completeLoop` over Temporal. */
export interface ReportOptions extends CallOptions {
  /** `hashOfJson` of the original body, if a review was added to the report since. */
  bodyHash?: string;
}

/** The guards over Temporal. */
export interface TemporalGuards extends Guards {
  completeLoop(report: LoopReport, options?: ReportOptions): Promise<LoopAnswer>;
}

export interface GuardDeps extends ReportDeps {
  runs: OwnLoops;
  deadlineMs: number;
}

export async function completeLoop(deps: GuardDeps, report: LoopReport, reportedHash?: string): Promise<LoopAnswer> {
  const errors = checkReport(report);
  if (errors.length > 0) {
    throw new GuardRefusedError({ problem: 'invalid_report', detail: 'The report is invalid.', errors });
  }
  const owner = await findOwner(deps, report.loop_id);
  if (owner.kind === 'run') return awaitOwnDecision(deps.runs, owner.runId, report, deps.deadlineMs);
  const bodyHash = reportedHash ?? hashOfJson(report);
  return withDeadline(deps, report.loop_id, () =>
    reportLoop(deps, report, { bodyHash, isNew: owner.kind === 'nobody' }),
  );
}

export async function guardStatus(deps: GuardDeps, loopId: string): Promise<GuardrailsStatus> {
  const owner = await findOwner(deps, loopId);
  if (owner.kind === 'run') return readOwnStatus(deps.runs, owner.runId, loopId);
  const status = await askGuard(deps, loopId, QUERY.guardrails, ({ state }) =>
    state === null ? null : buildGuardrailsStatus(state, loopId),
  );
  if (status === null) throw unknownLoop(loopId);
  return status;
}

export async function guardTrace(deps: GuardDeps, loopId: string): Promise<GuardTrace> {
  const owner = await findOwner(deps, loopId);
  const { trace, overrides } =
    owner.kind === 'run'
      ? await readOwnTrace(deps.runs, owner.runId)
      : await askGuard(deps, loopId, QUERY.trace, ({ state }) => traceOf(state));
  if (!trace.some((item) => item.loop_id === loopId)) throw unknownLoop(loopId);
  return { trace, overrides };
}

const traceOf = (state: GuardState | null): GuardTrace =>
  state === null ? { trace: [], overrides: [] } : { trace: buildLoopTrace(state), overrides: listOverrides(state) };

export async function overrideLoop(
  deps: GuardDeps,
  loopId: string,
  body: OverrideRequest,
  key: string = uuidV7(),
): Promise<OverrideAnswer> {
  const owner = await findOwner(deps, loopId);
  if (owner.kind === 'run') return overrideOwnLoop(deps.runs, owner.runId, loopId, body);
  return withDeadline(deps, loopId, () => overrideGuard(deps, loopId, body, key));
}

type Owner = { kind: 'run'; runId: string } | { kind: 'guard' | 'nobody' | 'unknown' };

/**
 * Finds the owner of a loop. A run that was started with the `temporal` command has no reservation until a worker prepares it, but
 * its loops contain its run id by default. Without a store the owner is unknown, and an open guard can still answer.
 */
export async function findOwner({ client, store }: GuardDeps, loopId: string): Promise<Owner> {
  if (!isId(loopId)) throw unknownLoop(loopId);
  const family = familyOf(loopId);
  const found = await store?.reservations.ownerOf(family).catch(() => undefined);
  if (found) return found.run_id === null ? { kind: 'guard' } : { kind: 'run', runId: found.run_id };
  const runId = /^loop_(?<id>.+?)(?::1)?$/.exec(family)?.groups?.['id'];
  const isDefaultName = runId !== undefined && isId(runId) && defaultLoopId(runId) === family;
  if (isDefaultName && (await isKnownRun(client, runId))) return { kind: 'run', runId };
  return { kind: found === null ? 'nobody' : 'unknown' };
}

export async function withDeadline<T>(
  { client, deadlineMs }: GuardDeps,
  loopId: string,
  work: () => Promise<T>,
): Promise<T> {
  try {
    return await client.withDeadline(Date.now() + deadlineMs, work);
  } catch (error) {
    throw isDeadline(error) && !(error instanceof NotReachableError) ? noAnswer(familyOf(loopId), error) : error;
  }
}

const unknownLoop = (loopId: string): GuardRefusedError =>
  new GuardRefusedError({ problem: 'unknown_loop', detail: `No guard knows the loop ${loopId.slice(0, 200)}.` });

async function overrideGuard(
  { client, store }: GuardDeps,
  loopId: string,
  body: OverrideRequest,
  key: string,
): Promise<OverrideAnswer> {
  const family = familyOf(loopId);
  const args: [unknown] = [{ ...body, loop_id: loopId }];
  const updateId = `override:${hashOfJson([key, args])}`;
  const answer = await updateGuard<OverrideAnswer>(client, { family, name: GUARD_MESSAGE.override, updateId, args });
  if (answer !== NOT_OPEN) return answer;
  const found = await findEnding(client, store, family);
  if (!isEnding(found) || found.state === null) throw unknownLoop(loopId);
  const late = applyOverride(found.state, body, new Date().toISOString(), loopId);
  throw late.ok ? unknownLoop(loopId) : new GuardRefusedError(late);
}

/** Queries the open guard, or computes the same view from the state that an ended guard left. */
export async function askGuard<T>(
  { client, store }: GuardDeps,
  loopId: string,
  query: string,
  view: (ending: GuardEnding) => T,
): Promise<T> {
  if (!isId(loopId)) throw unknownLoop(loopId);
  const family = familyOf(loopId);
  const handle = client.workflow.getHandle(workflowIdOfGuard(family));
  try {
    return await client.withDeadline(Date.now() + QUERY_DEADLINE_MS, () => handle.query<T, [string]>(query, loopId));
  } catch (error) {
    const found = await findEnding(client, store, family);
    if (found === 'open') throw noAnswer(family, error);
    if (found === 'unknown') throw unknownLoop(loopId);
    return view(found);
  }
}
