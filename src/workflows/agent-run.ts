import { ActivityFailure } from '@temporalio/common';
import {
  allHandlersFinished,
  CancellationScope,
  CancelledFailure,
  condition,
  continueAsNew,
  isCancellation,
  workflowInfo,
} from '@temporalio/workflow';
import { computeRunBound } from '../core/bound/compute-bound.ts';
import { buildGuardrailsStatus } from '../core/guardrails/guardrails-status.ts';
import { buildLoopTrace } from '../core/guardrails/loop-trace.ts';
import { beginRun, openUnprepared, refuseRun } from '../core/run/begin-run.ts';
import { resultOfRun } from '../core/run/life.ts';
import { apply } from '../core/run/messages.ts';
import { failuresOf } from '../core/run/read-failures.ts';
import { runAgent } from '../core/run/run-agent.ts';
import { openRun, type RunState } from '../core/run/state.ts';
import { statusOf } from '../core/run/status.ts';
import { upgradeState } from '../core/run/upgrades.ts';
import { runIdOfWorkflow } from '../protocol/ids.ts';
import { QUERY } from '../protocol/names.ts';
import type { RunResult } from '../protocol/run.ts';
import { prepare } from './activity-proxies.ts';
import type { AgentRunInput } from './agent-run-input.ts';
import { giveBack, lendBudget } from './budget-loans.ts';
import { durablePorts } from './durable-ports.ts';
import { isPrepared } from './is-prepared.ts';
import { acceptMessages } from './messages.ts';
import { createPublisher } from './publish.ts';
import { answerQuery } from './readable.ts';
import { asSubRun } from './run-sub-run.ts';

// oxlint-disable-next-line no-restricted-globals -- in a workflow the SDK's Date is the deterministic clock
const now = (): number => Date.now();

/** The workflow of one agent run. It connects `core/run`, which makes every decision, to Temporal. */
export async function agentRun(given?: AgentRunInput | null): Promise<RunResult> {
  // A start from the `temporal` command line may have no input. It is then refused like any other invalid request.
  const input = given ?? {};
  const state = openState(input);
  let stopCalls = (): void => {};
  acceptMessages(state, now, () => stopCalls());
  lendBudget(state, now);
  answerQueries(state);

  // The run itself is not cancelled by Temporal: a cancel is passed to it as a message, so that a cancelled run still
  // gets its ending.
  const root = CancellationScope.current();
  return CancellationScope.nonCancellable(async () => {
    let isCancelledByTemporal = false;
    root.cancelRequested.catch(() => {
      isCancelledByTemporal = true;
      apply(state, CANCELLED_BY_TEMPORAL, now());
      stopCalls();
    });
    let searchAttributes = input.options?.search_attributes === true;
    if (state.life.is === 'preparing') {
      searchAttributes = await prepareRun(state, input, (stop) => (stopCalls = stop));
    }
    const options = { ...input.options, search_attributes: searchAttributes };
    const publish = createPublisher(state.run, searchAttributes);
    const ports = durablePorts(now, publish, options.hand_over_after_events);
    stopCalls = () => ports.stopCalls();

    const end = await runAgent(state, ports);
    await condition(allHandlersFinished);
    if (end === 'hand_over') return continueAsNew<typeof agentRun>({ state, options });
    const result = resultOfRun(state);
    if (result === null) throw new TypeError('A run ended without a result.');
    if (options.borrowed) await giveBack(state, result);
    // A cancel after the outcome was decided does not change the outcome.
    if (isCancelledByTemporal && result.outcome === 'cancelled') throw new CancelledFailure(result.why);
    return result;
  });
}

const CANCELLED_BY_TEMPORAL = { type: 'cancel_run', by: 'temporal' } as const;

/**
 * Returns the state to start from. A state is accepted only from the previous execution, and a prepared run only when
 * it has the right shape. The limit is computed here, so that a caller cannot choose it.
 */
function openState({ state, prepared, agent, goal }: AgentRunInput): RunState {
  const { continuedFromExecutionRunId, workflowId } = workflowInfo();
  if (state !== undefined && continuedFromExecutionRunId !== undefined) return upgradeState(state);
  if (isPrepared(prepared)) return openRun({ ...prepared, bound: computeRunBound(prepared) }, now());
  const text = (value: unknown): string => (typeof value === 'string' ? value.slice(0, 200) : '');
  const run_id = runIdOfWorkflow(workflowId) ?? workflowId;
  return openUnprepared({ run_id, agent: text(agent), goal: text(goal) }, now());
}

/**
 * Prepares a bare start with an activity, because only a worker knows agents and tools. Returns whether our search
 * attributes are registered on the server: setting unknown attributes would fail every workflow task.
 */
async function prepareRun(state: RunState, input: AgentRunInput, onStop: (stop: () => void) => void): Promise<boolean> {
  const { options, state: _state, prepared: _prepared, ...request } = input;
  const given = options?.search_attributes === true;
  const scope = new CancellationScope({ cancellable: true });
  onStop(() => scope.cancel());
  try {
    const outcome = await scope.run(() => prepare(request, state.run.run_id));
    if (!outcome.ok) {
      refuseRun(state, outcome.problems);
      return given;
    }
    beginRun(state, asSubRun(outcome.prepared, input));
    return outcome.search_attributes === true;
  } catch (error) {
    if (!(error instanceof ActivityFailure)) throw error;
    const message = `could not be prepared: ${error.cause?.message ?? error.message}`;
    if (!isCancellation(error)) refuseRun(state, [{ path: '$', message }]);
    return given;
  }
}

function answerQueries(state: RunState): void {
  answerQuery(QUERY.status, () => statusOf(state));
  answerQuery(QUERY.result, () => resultOfRun(state));
  answerQuery(QUERY.guardrails, () => buildGuardrailsStatus(state.guard));
  answerQuery(QUERY.trace, () => ({ trace: buildLoopTrace(state.guard) }));
  answerQuery(QUERY.failures, () => ({ failures: failuresOf(state) }));
}
