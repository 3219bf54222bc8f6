import { afterCall, beforeCall, type LoopCall, type LoopOutcome } from '../failures/loop-detector.ts';
import { afterMessage } from '../failures/repeated-message.ts';
import { escalate, type Escalation } from '../failures/escalation.ts';
import { failureOf } from '../failures/failure-memory.ts';
import { liftStalls, type Stall } from '../failures/loop-watch.ts';
import { ordinalOfTurn, recordOfNotice } from './failure-records.ts';
import { rememberNotice } from './memory.ts';
import type { RunPorts } from './ports.ts';
import { endWith, type RunState, type StepInFlight } from './state.ts';

/**
 * Being stuck: the same calls again and again, failing or not. Counted within one pass and among calls that the planner
 * chose; a given plan repeats itself by design.
 */
const isWatched = ({ run }: RunState): boolean => run.planner === 'chooses';
const stops = ({ run }: RunState): boolean => run.policy.mode === 'enforce';

/**
 * Who of a batch may run now. A call that is stuck is answered with guidance, or goes to a person; one that may turn out to
 * be stuck by its equals under way waits for them.
 */
export function admit(state: RunState, steps: StepInFlight[]): { now: StepInFlight[]; later: StepInFlight[] } {
  if (!isWatched(state)) return { now: steps, later: [] };
  const now: StepInFlight[] = [];
  const later: StepInFlight[] = [];
  for (const step of steps) {
    const before = beforeCall(state.loop.watch, callOf(state, step), state.run.policy.loops);
    if (stops(state) || before.action === 'run') state.loop.watch = before.state;
    if (before.action === 'run' || !stops(state)) now.push(step);
    else if (before.action === 'defer') later.push(step);
    else step.end = { kind: before.action === 'guide' ? 'guided' : 'stuck', stall: before.stall };
  }
  return { now, later };
}

/** A person let it: every count starts again, and this call is under way. */
export function letRun(state: RunState, step: StepInFlight): void {
  const lifted = liftStalls(state.loop.watch);
  state.loop.watch = beforeCall(lifted, callOf(state, step), state.run.policy.loops).state;
  step.end = null;
}

/** Folds what came of a call that ran. A stall is recorded once; the second of its kind in a run ends it. */
export function noteCall(state: RunState, ports: RunPorts, step: StepInFlight): void {
  if (!isWatched(state) || step.attempt === 0) return;
  const outcome = outcomeOf(step);
  if (outcome === null) return;
  const after = afterCall(state.loop.watch, callOf(state, step), outcome, state.run.policy.loops);
  state.loop.watch = after.state;
  if (after.stall !== undefined) noteStall(state, ports, step, after.stall);
}

/** All that ran has come back, one way or another: nobody waits for a call that will not be heard of again. */
export function settleWatch(state: RunState): void {
  if (Object.keys(state.loop.watch.under_way).length > 0) state.loop.watch = { ...state.loop.watch, under_way: {} };
}

/** The planner has said something instead of calling a tool. True: it says the same so often that a person must be asked. */
export function noteMessage(state: RunState, ports: RunPorts, step: StepInFlight, text: string): Stall | null {
  const after = afterMessage(state.loop.watch, text, state.run.policy.loops);
  state.loop.watch = after.state;
  if (after.stall === undefined) return null;
  if (after.is_new) noteStall(state, ports, step, after.stall);
  return after.action === 'escalate' && stops(state) ? after.stall : null;
}

/** What a stall leads to: by how often it was found, or told to a person, in this run. */
export function escalationOfStall(state: RunState, stall: Stall): Escalation {
  const failure = failureOf(state.failures, stall.fingerprint);
  return escalate({
    kind: 'repeated_call',
    planner: 'chooses',
    occurrences_since_progress: failure?.since_progress ?? 1,
    escalate_at: state.run.policy.failures.escalate_at,
    stalls_of_fingerprint: (failure?.occurrence_count ?? 1) + (failure?.human_answered === true ? 1 : 0),
  });
}

function noteStall(state: RunState, ports: RunPorts, step: StepInFlight, stall: Stall): void {
  const made = recordOfNotice(state, step, ports.now(), {
    signal_type: 'loop_stall',
    kind: 'repeated_call',
    error_code: stall.rule,
    tool_name: stall.tool_name,
    fingerprint: stall.fingerprint,
    ...(step.kind === 'planner' ? { ordinal: ordinalOfTurn(state, 'stall') } : {}),
  });
  rememberNotice(state, made);
  ports.log({
    event: 'stall_detected',
    failure_id: made.record.failure_id,
    fingerprint: stall.fingerprint,
    rule: stall.rule,
    repeats: stall.repeats,
  });
  const next = escalationOfStall(state, stall);
  if (!stops(state) || next.action !== 'system_error') return;
  endWith(state, { outcome: 'system_error', reason: 'LOOP_STALL', why: next.why });
}

const callOf = (state: RunState, step: StepInFlight): LoopCall => ({
  tool_name: step.tool,
  args: step.input,
  loop_key: step.loop_key,
  effect: state.run.manifest[step.tool]?.effect,
});

function outcomeOf({ end }: StepInFlight): LoopOutcome | null {
  if (end?.kind === 'ok') {
    return { ok: true, result_hash: end.outcome.artifact_id, probe_hash: end.outcome.probe_hash };
  }
  if (end?.kind !== 'failed') return null;
  return { ok: false, fingerprint: end.fingerprint ?? end.failure.error_code, probe_hash: end.failure.probe_hash };
}
