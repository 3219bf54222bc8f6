import { largestLimit, type RetryPolicy } from '../retry/strategies.ts';
import type { Json } from '../../protocol/json.ts';
import { attemptsLeft, limitsOf } from './ledger.ts';
import type { RunState, StepInFlight } from './state.ts';

/** A step as a planner names it. */
export interface PlannedCall {
  plan_index: number | null;
  phase: string;
  tool: string;
  input: Json;
  output_schema?: Json | undefined;
  loop_key?: string | undefined;
  call_id?: string | undefined;
}

/**
 * Step ids and the ledger are reserved before the first call of a batch, in step order, for the worst case: so which
 * of two parallel steps gets the last attempts never depends on which of them fails first. What does not fit the
 * budget is left out; `short` then names the budget.
 */
export function openBatch(
  state: RunState,
  calls: PlannedCall[],
): { steps: StepInFlight[]; short: 'steps' | 'attempts' | null } {
  const limits = limitsOf(state.run);
  const { retry } = state.run.policy;
  const most = worstCase(retry);
  let stepsLeft = Math.max(0, (limits.steps ?? Infinity) - state.ledger.used.steps);
  let unreserved = unpromised(state, null);
  const steps: StepInFlight[] = [];
  let short: 'steps' | 'attempts' | null = null;
  for (const [position, call] of calls.entries()) {
    if (stepsLeft === 0) short ??= 'steps';
    else if (unreserved === 0) short ??= 'attempts';
    if (short !== null) break;
    const stillToCome = calls.length - position - 1;
    // Every step of the batch gets its first attempt before any gets a retry.
    // A run of its own has retries of its own.
    const wanted = state.run.manifest[call.tool]?.agent === undefined ? most : 1;
    const granted = Math.min(wanted, Math.max(1, unreserved - stillToCome));
    steps.push(newStep('tool', state.next_step_id + position, call, granted));
    stepsLeft -= 1;
    unreserved -= granted;
  }
  state.next_step_id += steps.length;
  state.ledger.used.steps += steps.length;
  return { steps, short };
}

/** What is left of the attempts once every other step that may still run has had all that it was granted. */
export function unpromised(state: RunState, except: StepInFlight | null): number {
  let left = attemptsLeft(state.run, state.ledger);
  for (const other of state.batch) {
    if (other === except || other.kind !== 'tool' || !(other.end === null || other.end.kind === 'stuck')) continue;
    left -= Math.max(0, other.granted - other.attempt);
  }
  return Math.max(0, left);
}

/** The most attempts that a step can take by itself. A run's policy never changes, so it is worked out once. */
const worstCases = new WeakMap<RetryPolicy, number>();
export function worstCase(retry: RetryPolicy): number {
  const most = worstCases.get(retry) ?? 1 + largestLimit(retry) + retry.worker_lost;
  worstCases.set(retry, most);
  return most;
}

export function newStep(kind: StepInFlight['kind'], stepId: number, call: PlannedCall, granted: number): StepInFlight {
  return {
    kind,
    step_id: stepId,
    plan_index: call.plan_index,
    phase: call.phase,
    tool: call.tool,
    input: call.input,
    ...(call.output_schema === undefined ? {} : { output_schema: call.output_schema }),
    ...(call.loop_key === undefined ? {} : { loop_key: call.loop_key }),
    ...(call.call_id === undefined ? {} : { call_id: call.call_id }),
    repair: null,
    attempt: 0,
    granted,
    single_attempt: false,
    retries_used: 0,
    infrastructure_used: 0,
    waited_ms: 0,
    person_ms: 0,
    owed_wait_ms: 0,
    backing_off_until: null,
    correction: null,
    constraints: {},
    mending: null,
    failed: null,
    recalled: [],
    evaluated: [],
    evaluated_model: null,
    events: [],
    tried: [],
    end: null,
  };
}
