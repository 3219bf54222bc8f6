import { ActivityFailure } from '@temporalio/common';
import {
  allHandlersFinished,
  CancellationScope,
  CancelledFailure,
  condition,
  continueAsNew,
  defineQuery,
  isCancellation,
  setHandler,
  workflowInfo,
} from '@temporalio/workflow';
import { boundOfRun, computeBound } from '../core/bound/compute-bound.ts';
import { withinGrant } from '../core/bound/within-grant.ts';
import { isPrepared } from './is-prepared.ts';
import { guardrailsStatus } from '../core/guardrails/guardrails-status.ts';
import { loopTrace } from '../core/guardrails/loop-trace.ts';
import { apply } from '../core/run/messages.ts';
import { failuresOf } from '../core/run/memory.ts';
import { openRun, type RunState, upToDate } from '../core/run/state.ts';
import { refuseRun } from '../core/run/refuse-run.ts';
import { runAgent } from '../core/run/agent.ts';
import { statusOf } from '../core/run/status.ts';
import { runIdOfWorkflow } from '../protocol/ids.ts';
import { NOTHING_REMEMBERED } from '../protocol/lessons.ts';
import { QUERY } from '../protocol/names.ts';
import { DEFAULT_POLICY } from '../protocol/policy.ts';
import type { PreparedRun, RunResult } from '../protocol/run.ts';
import { prepare } from './activity-proxies.ts';
import type { AgentRunInput } from './agent-run-input.ts';
import { giveBack, lendBudget } from './budget-loans.ts';
import { durablePorts } from './durable-ports.ts';
import { acceptMessages, type StateHolder } from './messages.ts';
import { createPublisher } from './publish.ts';
import { grantOf } from './run-sub-run.ts';

// oxlint-disable-next-line no-restricted-globals -- in a workflow the SDK's Date is the deterministic clock
const now = (): number => Date.now();

/** One agent run: the story with durable ports. All that is decided is decided in core; this is wiring. */
export async function agentRun(given?: AgentRunInput | null): Promise<RunResult> {
  // A bare start may bring nothing at all: it is then refused like any other request that cannot be run.
  const input = trusted(given ?? {});
  const holder: StateHolder = { state: input.state ?? null };
  let stopCalls = (): void => {};
  acceptMessages(holder, now, () => stopCalls());
  lendBudget(holder, now);
  answerQueries(holder, input);

  // The story itself is never cancelled: a cancel is a message to it, so that a cancelled run still has its ending.
  const root = CancellationScope.current();
  return CancellationScope.nonCancellable(async () => {
    const cancelled = { byTemporal: false };
    root.cancelRequested.catch(() => {
      cancelled.byTemporal = true;
      if (holder.state !== null) apply(holder.state, CANCELLED_BY_TEMPORAL, now());
      stopCalls();
    });
    const begun = holder.state === null ? await begin(input, (stop) => (stopCalls = stop)) : null;
    const state = (holder.state ??= begun?.state ?? null);
    if (state === null) throw new TypeError('A run began without a state.');
    if (cancelled.byTemporal) apply(state, CANCELLED_BY_TEMPORAL, now());
    const options = { ...input.options, search_attributes: begun?.searchAttributes ?? searchable(input) };
    const publish = createPublisher(state.run, options.search_attributes);
    const ports = durablePorts(now, publish, options.hand_over_after_events);
    stopCalls = () => ports.stopCalls();

    const end = await runAgent(state, ports);
    await condition(allHandlersFinished);
    if (end === 'ended' && state.result !== null && options.borrowed) await giveBack(state, state.result);
    if (end === 'hand_over') return continueAsNew<typeof agentRun>({ state, options });
    // A cancel that came after the end was decided changes nothing, here as little as in the result.
    if (cancelled.byTemporal && state.result?.outcome === 'cancelled') throw new CancelledFailure(state.result.why);
    if (state.result === null) throw new TypeError('A run ended without a result.');
    return state.result;
  });
}

const CANCELLED_BY_TEMPORAL = { type: 'cancel_run', by: 'temporal' } as const;
/** Upserting attributes that a server does not know fails the task for ever, so only who knows better turns them on. */
const searchable = (input: AgentRunInput): boolean => input.options?.search_attributes === true;

/** A state is believed from the execution before only, and a prepared run only when it is one. */
function trusted(input: AgentRunInput): AgentRunInput {
  const { state, prepared, ...rest } = input;
  return {
    ...rest,
    ...(state !== undefined && workflowInfo().continuedFromExecutionRunId !== undefined && { state: upToDate(state) }),
    ...(prepared !== undefined && isPrepared(prepared) && { prepared: withOwnBound(prepared) }),
  };
}

/** Nobody brings a limit along: it is computed from what the run is. */
const withOwnBound = (run: PreparedRun): PreparedRun => ({ ...run, bound: boundOfRun(run) });

interface Begun {
  state: RunState;
  searchAttributes: boolean;
}

/** A bare start is resolved by an activity, because only a worker knows agents and tools. */
async function begin(input: AgentRunInput, onStop: (stop: () => void) => void): Promise<Begun> {
  if (input.prepared !== undefined)
    return { state: openRun(input.prepared, now()), searchAttributes: searchable(input) };
  const { options: _options, state: _state, ...request } = input;
  const runId = runIdOfWorkflow(workflowInfo().workflowId) ?? workflowInfo().workflowId;
  const scope = new CancellationScope({ cancellable: true });
  onStop(() => scope.cancel());
  const unresolved = () => openRun(unprepared(input, runId), now());
  try {
    const outcome = await scope.run(() => prepare(request, runId));
    if (!outcome.ok) return { state: refuseRun(unresolved(), outcome.problems), searchAttributes: searchable(input) };
    const prepared = withinGrant(outcome.prepared, grantOf(input));
    return { state: openRun(prepared, now()), searchAttributes: outcome.search_attributes === true };
  } catch (error) {
    if (!(error instanceof ActivityFailure)) throw error;
    if (isCancellation(error)) return { state: unresolved(), searchAttributes: searchable(input) };
    const message = `could not be prepared: ${error.cause?.message ?? error.message}`;
    return { state: refuseRun(unresolved(), [{ path: '$', message }]), searchAttributes: searchable(input) };
  }
}

/** What is known of a run that could not be prepared: enough to end it properly. */
function unprepared(input: AgentRunInput, runId: string): PreparedRun {
  const name = (value: unknown): string => (typeof value === 'string' ? value.slice(0, 200) : '');
  return {
    run_id: runId,
    agent: name(input.agent),
    goal: name(input.goal),
    input: null,
    planner: 'given',
    plan: null,
    model: null,
    reviewer: 'rules',
    policy: DEFAULT_POLICY,
    manifest: {},
    bound: computeBound({ policy: DEFAULT_POLICY, planLength: 0 }),
    // Not from the run's id: that may be what was refused.
    loop_id: 'loop_refused',
    labels: [],
    parent_run_id: null,
    memory: NOTHING_REMEMBERED,
  };
}

/** Before a bare start is prepared, what is known of it answers. */
function answerQueries(holder: StateHolder, input: AgentRunInput): void {
  const runId = runIdOfWorkflow(workflowInfo().workflowId) ?? workflowInfo().workflowId;
  const begunAt = now();
  const state = (): RunState => holder.state ?? openRun(unprepared(input, runId), begunAt);
  setHandler(defineQuery(QUERY.status), () => statusOf(state()));
  setHandler(defineQuery(QUERY.result), () => holder.state?.result ?? null);
  setHandler(defineQuery(QUERY.guardrails), () => guardrailsStatus(state().guard));
  setHandler(defineQuery(QUERY.trace), () => ({ trace: loopTrace(state().guard) }));
  setHandler(defineQuery(QUERY.failures), () => ({ failures: failuresOf(state()) }));
}
