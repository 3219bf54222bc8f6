import {
  allHandlersFinished,
  CancellationScope,
  CancelledFailure,
  condition,
  continueAsNew,
  defineQuery,
  setHandler,
  workflowInfo,
} from '@temporalio/workflow';
import { computeBound } from '../core/bound/index.ts';
import { guardrailsStatus, loopTrace } from '../core/guardrails/index.ts';
import { apply, failuresOf, openRun, refuseRun, runAgent, type RunState, statusOf } from '../core/run/index.ts';
import { runIdOfWorkflow } from '../protocol/ids.ts';
import { QUERY } from '../protocol/names.ts';
import { DEFAULT_POLICY } from '../protocol/policy.ts';
import type { PreparedRun, RunResult } from '../protocol/run.ts';
import { prepare } from './activity-proxies.ts';
import type { AgentRunInput } from './agent-run-input.ts';
import { durablePorts } from './durable-ports.ts';
import { acceptMessages, type StateHolder } from './messages.ts';
import { createPublisher } from './publish.ts';

// oxlint-disable-next-line no-restricted-globals -- in a workflow the SDK's Date is the deterministic clock
const now = (): number => Date.now();

/** One agent run: the story with durable ports. All that is decided is decided in core; this is wiring. */
export async function agentRun(given?: AgentRunInput | null): Promise<RunResult> {
  // A bare start may bring nothing at all: it is then refused like any other request that cannot be run.
  const input = trusted(given ?? {});
  const holder: StateHolder = { state: input.state ?? null };
  let stopCalls = (): void => {};
  acceptMessages(holder, now, () => stopCalls());
  answerQueries(holder);

  // The story itself is never cancelled: a cancel is a message to it, so that a cancelled run still has its ending.
  return CancellationScope.nonCancellable(async () => {
    const state = (holder.state ??= await begin(input));
    const options = input.options ?? {};
    const publish = createPublisher(state.run, options.search_attributes !== false);
    const ports = durablePorts(now, publish, options.hand_over_after_events);
    stopCalls = () => ports.stopCalls();
    const cancelled = watchForCancel(state, stopCalls);

    const end = await runAgent(state, ports);
    await condition(allHandlersFinished);
    if (end === 'hand_over') {
      return continueAsNew<typeof agentRun>({ state, ...(input.options && { options: input.options }) });
    }
    // A cancel that came after the end was decided changes nothing, here as little as in the result.
    if (cancelled.byTemporal && state.result?.outcome === 'cancelled') throw new CancelledFailure(state.result.why);
    if (state.result === null) throw new TypeError('A run ended without a result.');
    return state.result;
  });
}

/** A state is believed from the execution before only, and a prepared run only when it is one. */
function trusted(input: AgentRunInput): AgentRunInput {
  const { state, prepared, ...rest } = input;
  return {
    ...rest,
    ...(state !== undefined && workflowInfo().continuedFromExecutionRunId !== undefined && { state }),
    ...(isPrepared(prepared) && { prepared }),
  };
}

/** Only our client prepares runs; whoever else sends one gets it checked like any request. */
const isPrepared = (run: PreparedRun | undefined): boolean =>
  typeof run === 'object' &&
  run !== null &&
  typeof run.run_id === 'string' &&
  typeof run.policy === 'object' &&
  run.bound !== undefined;

/** A bare start is resolved by an activity, because only a worker knows agents and tools. */
async function begin(input: AgentRunInput): Promise<RunState> {
  if (input.prepared !== undefined) return openRun(input.prepared, now());
  const { options: _options, state: _state, ...request } = input;
  const runId = runIdOfWorkflow(workflowInfo().workflowId) ?? workflowInfo().workflowId;
  const outcome = await prepare(request, runId);
  if (outcome.ok) return openRun(outcome.prepared, now());
  return refuseRun(openRun(unprepared(input, runId), now()), outcome.problems);
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
    reviewer: 'rules',
    policy: DEFAULT_POLICY,
    manifest: {},
    bound: computeBound({ policy: DEFAULT_POLICY, planLength: 0 }),
    // Not from the run's id: that may be what was refused.
    loop_id: 'loop_refused',
    labels: [],
    parent_run_id: null,
  };
}

function watchForCancel(state: RunState, stopCalls: () => void): { byTemporal: boolean } {
  const cancelled = { byTemporal: false };
  const root = CancellationScope.current().parent ?? CancellationScope.current();
  root.cancelRequested.catch(() => {
    cancelled.byTemporal = true;
    apply(state, { type: 'cancel_run', by: 'temporal' }, now());
    stopCalls();
  });
  return cancelled;
}

function answerQueries(holder: StateHolder): void {
  const when =
    <T>(ask: (state: RunState) => T) =>
    (): T | { state: 'running'; why: string } =>
      holder.state === null ? { state: 'running', why: 'The run is being prepared.' } : ask(holder.state);
  setHandler(defineQuery(QUERY.status), when(statusOf));
  setHandler(defineQuery(QUERY.result), () => holder.state?.result ?? null);
  setHandler(
    defineQuery(QUERY.guardrails),
    when((state) => guardrailsStatus(state.guard)),
  );
  setHandler(
    defineQuery(QUERY.trace),
    when((state) => ({ trace: loopTrace(state.guard) })),
  );
  setHandler(
    defineQuery(QUERY.failures),
    when((state) => ({ failures: failuresOf(state) })),
  );
}
