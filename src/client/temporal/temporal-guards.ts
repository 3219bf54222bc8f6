import type { Client } from '@temporalio/client';
import { v7 as uuidV7 } from 'uuid';
import type { GuardPolicy, GuardState } from '../../core/guardrails/guard-state.ts';
import type { LoopAnswer } from '../../core/guardrails/loop-answer.ts';
import { applyOverride, overrideAudit, type OverrideAnswer } from '../../core/guardrails/family-overrides.ts';
import type { OverrideRequest } from '../../core/guardrails/overrides.ts';
import { familyOf } from '../../core/guardrails/loop-ids.ts';
import { guardrailsStatus, type GuardrailsStatus } from '../../core/guardrails/guardrails-status.ts';
import { loopTrace } from '../../core/guardrails/loop-trace.ts';
import { hashOfJson, isId, workflowIdOfGuard } from '../../protocol/ids.ts';
import { GUARD_MESSAGE, QUERY, TASK_QUEUE } from '../../protocol/names.ts';
import { DEFAULT_POLICY } from '../../protocol/policy.ts';
import type { GuardTrace } from '../../core/guardrails/loop-guard.ts';
import { type GuardDeps, type GuardStore, isEnding, refused, reportLoop, type ReportOptions } from './complete-loop.ts';
import { GuardNoAnswerError, GuardRefusedError } from './guard-errors.ts';
import { findEnding } from './find-ending.ts';
import { isDeadline, NOT_OPEN, updateGuard } from './send-update.ts';

export { GuardNoAnswerError, GuardRefusedError } from './guard-errors.ts';
export type { GuardStore, ReportOptions } from './complete-loop.ts';

/** Long enough for another worker to take over from one that was killed. */
const REPORT_DEADLINE_MS = 30_000;
/** A worker answers in milliseconds; without one a query would hang until somebody starts one. */
const QUERY_DEADLINE_MS = 2_000;

export interface GuardsClientOptions {
  client: Client;
  /** Without it a family can be opened anew once Temporal has forgotten it. */
  store?: GuardStore;
  taskQueue?: string;
  /** What new families are guarded by; those that are open keep theirs. */
  policy?: GuardPolicy;
  deadlineMs?: number;
}

/** Loops that another orchestrator runs and only reports here. The only user of guards' workflow handles. */
export interface GuardsClient {
  completeLoop(body: unknown, options?: ReportOptions): Promise<LoopAnswer>;
  status(loopId: string): Promise<GuardrailsStatus>;
  /** The same `idempotencyKey` with the same body is one override, however often it is sent. */
  override(loopId: string, body: OverrideRequest, options?: { idempotencyKey?: string }): Promise<OverrideAnswer>;
  trace(loopId: string): Promise<GuardTrace>;
  workflowId(loopId: string): string;
}

export function createGuardsClient(options: GuardsClientOptions): GuardsClient {
  const { client, store, deadlineMs = REPORT_DEADLINE_MS } = options;
  const { taskQueue = TASK_QUEUE, policy = DEFAULT_POLICY } = options;
  const deps: GuardDeps = { client, store, taskQueue, policy };
  const inTime = async <T>(family: string, ms: number, work: () => Promise<T>): Promise<T> => {
    try {
      return await client.withDeadline(Date.now() + ms, work);
    } catch (error) {
      throw isDeadline(error) && !(error instanceof GuardNoAnswerError) ? new GuardNoAnswerError(family, error) : error;
    }
  };
  return {
    completeLoop: (body, reportOptions) =>
      inTime(nameOf(body), deadlineMs, () => reportLoop(deps, body, reportOptions)),
    status: async (loopId) => {
      const status = await ask(deps, loopId, QUERY.guardrails, guardrailsStatus);
      if (status === null) throw unknownLoop(loopId);
      return status;
    },
    override: (loopId, body, { idempotencyKey = uuidV7() } = {}) =>
      inTime(loopId, deadlineMs, () => override(deps, loopId, body, idempotencyKey)),
    trace: (loopId) =>
      ask(deps, loopId, QUERY.trace, (state) => ({ trace: loopTrace(state), overrides: overrideAudit(state) })),
    workflowId: (loopId) => workflowIdOfGuard(familyOf(loopId)),
  };
}

const nameOf = (body: unknown): string =>
  typeof body === 'object' && body !== null && 'loop_id' in body ? String(body.loop_id) : 'the loop';

const unknownLoop = (loopId: string): GuardRefusedError =>
  refused({ problem: 'unknown_loop', detail: `No guard knows the loop ${loopId.slice(0, 200)}.` });

async function override(
  { client, store }: GuardDeps,
  loopId: string,
  body: OverrideRequest,
  key: string,
): Promise<OverrideAnswer> {
  if (!isId(loopId)) throw unknownLoop(loopId);
  const family = familyOf(loopId);
  const args: [unknown] = [{ ...body, loop_id: loopId }];
  const updateId = `override:${hashOfJson([key, args])}`;
  const answer = await updateGuard<OverrideAnswer>(client, { family, name: GUARD_MESSAGE.override, updateId, args });
  if (answer !== NOT_OPEN) return answer;
  const found = await findEnding(client, family, store?.archivedGuards);
  if (!isEnding(found) || found.state === null) throw unknownLoop(loopId);
  const late = applyOverride(found.state, body, new Date().toISOString(), loopId);
  throw late.ok ? unknownLoop(loopId) : new GuardRefusedError(late);
}

/** The guard's own word where it can be had, else the same view of the state that it left behind. */
async function ask<T>(
  { client, store }: GuardDeps,
  loopId: string,
  query: string,
  view: (state: GuardState, loopId: string) => T,
): Promise<T> {
  if (!isId(loopId)) throw unknownLoop(loopId);
  const family = familyOf(loopId);
  const handle = client.workflow.getHandle(workflowIdOfGuard(family));
  try {
    return await client.withDeadline(Date.now() + QUERY_DEADLINE_MS, () => handle.query<T, [string]>(query, loopId));
  } catch (error) {
    const found = await findEnding(client, family, store?.archivedGuards);
    if (found === 'open') throw new GuardNoAnswerError(family, error);
    if (found === 'unknown' || found.state === null) throw unknownLoop(loopId);
    return view(found.state, loopId);
  }
}
