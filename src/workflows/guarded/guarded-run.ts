import { ApplicationFailure, CancelledFailure, TemporalFailure } from '@temporalio/common';
import { CancellationScope, workflowInfo } from '@temporalio/workflow';
import { computeBound } from '../../core/bound/compute-bound.ts';
import { mergePolicy } from '../../core/policy/merge-policy.ts';
import { checkPolicy } from '../../core/policy/check-policy.ts';
import { apply } from '../../core/run/messages.ts';
import { failuresOf } from '../../core/run/read-failures.ts';
import { type Life, resultOfRun } from '../../core/run/life.ts';
import { openRun } from '../../core/run/state.ts';
import { statusOf } from '../../core/run/status.ts';
import { type GuardedAttempt, openGuarded } from '../../core/run/guarded.ts';
import { defaultLoopId, ID_PATTERN, isId, sha256Hex } from '../../protocol/ids.ts';
import type { Json } from '../../protocol/json.ts';
import { EMPTY_START_MEMORY } from '../../protocol/lessons.ts';
import { QUERY, TASK_QUEUE } from '../../protocol/names.ts';
import type { PreparedRun, RequestProblem, RunResult } from '../../protocol/run.ts';
import type { PolicyPatch } from '../../protocol/schemas/policy.ts';
import type { CallOutcome, ToolEffect } from '../../protocol/tools.ts';
import { durablePorts } from '../durable-ports.ts';
import { acceptMessages } from '../messages.ts';
import { createPublisher } from '../publish.ts';
import { answerQuery } from '../readable.ts';
import { classifyStepFailure } from './classify-step-failure.ts';
import { memoryPorts } from './memory-ports.ts';

export interface GuardedOptions {
  /** The name of the agent. Runs of the same agent share their lessons. */
  agent: string;
  goal: string;
  policy?: PolicyPatch;
  /** The id of the run; by default the workflow's own id. */
  runId?: string;
  /** The task queue of a Secondwind worker that records failures and recalls lessons. */
  memoryTaskQueue?: string;
  /**
   * True when our search attributes are registered on the server. On a server without them, setting them would fail
   * every workflow task.
   */
  searchAttributes?: boolean;
}

export interface StepOptions {
  /**
   * The effect that the step may have; by default `side_effect`, which is never repeated unless its outcome is known.
   * If two steps declare the same name with different effects, the stricter effect applies to both.
   */
  effect?: ToolEffect;
  phase?: string;
  /** The input of the step. It is used to tell two calls of the step apart. */
  input?: Json;
}

export interface Guarded {
  /**
   * Runs a step with retries, failure memory and one budget. The step may use activities and child workflows. Give them
   * `retry: { maximumAttempts: 1 }`, because every retry is decided here. Resolves to undefined when a person answers
   * `skip`; throws when the run has ended.
   */
  step<T>(name: string, run: (attempt: GuardedAttempt) => Promise<T>, options?: StepOptions): Promise<T | undefined>;
}

/**
 * The failure type that a guarded workflow throws when its run ends before the work is done. `details[0]` is the typed
 * result.
 */
export const STOPPED = 'SecondwindStopped';
/** The failure type that a guarded workflow throws when its options are invalid. `details[0]` lists all problems. */
export const REFUSED = 'SecondwindRefused';

// oxlint-disable-next-line no-restricted-globals -- in a workflow the SDK's Date is the deterministic clock
const now = (): number => Date.now();

/**
 * Gives a workflow of your own what a run has: failure memory, guidance, one ledger, questions to people, and status,
 * signals and updates under the same names. Your code still does the work.
 */
export async function guardedRun<T>(options: GuardedOptions, work: (guarded: Guarded) => Promise<T>): Promise<T> {
  const state = openRun(prepare(options), now());
  const root = CancellationScope.current();
  const publish = createPublisher(state.run, options.searchAttributes === true);
  const memoryTaskQueue = options.memoryTaskQueue ?? TASK_QUEUE;
  const ports = { ...durablePorts(now, publish, undefined, memoryTaskQueue), ...memoryPorts(memoryTaskQueue) };
  const underWay = new Set<CancellationScope>();
  const stop = (): void => {
    for (const scope of underWay) scope.cancel();
  };
  acceptMessages(state, now, stop);
  answerQuery(QUERY.status, () => statusOf(state));
  answerQuery(QUERY.failures, () => ({ failures: failuresOf(state) }));
  answerQuery(QUERY.result, (): RunResult | null => resultOfRun(state));
  const guarded = openGuarded(state, ports);

  const step: Guarded['step'] = async (name, run, { effect = 'side_effect', phase = 'work', input = null } = {}) => {
    let value: Awaited<ReturnType<typeof run>> | undefined;
    const end = await guarded.step({ name, phase, effect, input }, async (attempt): Promise<CallOutcome> => {
      const startedAt = now();
      const scope = new CancellationScope({ cancellable: true });
      underWay.add(scope);
      try {
        value = await scope.run(() => run(attempt));
        return succeeded(`${state.run.run_id}:${name}:${attempt.idempotencyKey}`, now() - startedAt);
      } catch (error) {
        return classifyStepFailure(error, {
          // The stricter effect applies if the workflow declares several for this name.
          effect: state.run.manifest[name]?.effect ?? 'side_effect',
          isStopped: scope.consideredCancelled,
          durationMs: now() - startedAt,
        });
      } finally {
        underWay.delete(scope);
      }
    });
    if (end.kind === 'over') throw stopped(whyOver(state.life));
    // What a person gives as the output of a step is taken as it is: the workflow has no schema for it.
    if (end.kind === 'confirmed') return end.output as typeof value;
    return end.kind === 'ok' ? value : undefined;
  };

  return CancellationScope.nonCancellable(async () => {
    root.cancelRequested.catch(() => {
      apply(state, { type: 'cancel_run', by: 'temporal' }, now());
      stop();
    });
    try {
      const output = await work({ step });
      await guarded.close({ output: asJson(output) });
      return output;
    } catch (error) {
      // This is a bug in the workflow's code or a continue-as-new. Nothing is written for it: Temporal retries the
      // task, and the fixed code must find the same history that it would have made itself.
      if (!(error instanceof TemporalFailure)) throw error;
      await guarded.close({ broke: `the workflow failed: ${messageOf(error)}` });
      const result = resultOfRun(state);
      if (result?.outcome === 'cancelled') throw new CancelledFailure(result.why);
      if (error instanceof ApplicationFailure && error.type === STOPPED) throw stopped(error.message, result);
      throw error;
    }
  });
}

function whyOver(life: Life): string {
  if (life.is === 'closing') return life.ending.why;
  return life.is === 'stopping' ? `${life.cancel.by} cancelled the run` : 'the run is over';
}

const messageOf = (error: unknown): string =>
  (error instanceof Error ? error.message : 'no reason given').slice(0, 300);

/** The workflow keeps its own outputs, so the run only knows that there is a new result. */
const succeeded = (key: string, duration_ms: number): CallOutcome => ({
  class: 'ok',
  output: null,
  inline: false,
  artifact_id: sha256Hex(key),
  bytes: 0,
  duration_ms,
});

const stopped = (why: string, result?: RunResult | null): ApplicationFailure =>
  ApplicationFailure.create({
    message: why,
    type: STOPPED,
    nonRetryable: true,
    ...(result ? { details: [result] } : {}),
  });

function asJson(value: unknown): Json | null {
  const text = JSON.stringify(value);
  return text === undefined || text.length > 8_000 ? null : (JSON.parse(text) as Json);
}

function prepare(options: GuardedOptions): PreparedRun {
  const { workflowId } = workflowInfo();
  const runId = options.runId ?? (isId(workflowId) ? workflowId : `wf-${sha256Hex(workflowId).slice(0, 32)}`);
  refuseBadOptions(options, runId);
  const policy = mergePolicy(options.policy);
  // No model is called here. The workflow decides its own next steps, within `max_steps`.
  const bound = { ...computeBound({ policy, planLength: policy.budget.max_steps }), model_calls: 0, tokens: 0 };
  return {
    run_id: runId,
    agent: options.agent,
    goal: options.goal,
    input: null,
    planner: 'given',
    plan: null,
    model: null,
    reviewer: 'rules',
    policy,
    manifest: {},
    bound,
    loop_id: defaultLoopId(runId),
    labels: [],
    parent_run_id: null,
    memory: EMPTY_START_MEMORY,
  };
}

/** Checks the options, because no API has checked them and a misspelled limit would be ignored. */
function refuseBadOptions({ agent, goal, policy }: GuardedOptions, runId: string): void {
  const isText = (value: unknown): boolean => typeof value === 'string' && value !== '';
  const problems: RequestProblem[] = [
    ...(isText(agent) ? [] : [{ path: '$.agent', message: 'expected a name' }]),
    ...(isText(goal) ? [] : [{ path: '$.goal', message: 'expected a text' }]),
    ...(isId(runId) ? [] : [{ path: '$.runId', message: `expected an id (${ID_PATTERN.source})` }]),
    ...checkPolicy(policy),
  ];
  if (problems.length === 0) return;
  const told = problems.map(({ path, message }) => `${path}: ${message}`).join('; ');
  throw ApplicationFailure.create({
    message: `The guarded workflow is refused: ${told}`.slice(0, 2_000),
    type: REFUSED,
    nonRetryable: true,
    details: [problems.slice(0, 20)],
  });
}
