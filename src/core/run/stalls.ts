import { escalate, type Escalation } from '../failures/escalation.ts';
import { findFailure } from '../failures/failure-memory.ts';
import { afterCall, beforeCall, type LoopCall, type LoopOutcome } from '../failures/loop-detector.ts';
import { liftStalls, type Stall } from '../failures/loop-watch.ts';
import { afterMessage } from '../failures/repeated-message.ts';
import { defined } from '../../protocol/json.ts';
import { artifactOf, attemptCount, lastFailure, type Step, subjectOf, successOf } from './attempts.ts';
import { turnOrdinal } from './failure-records.ts';
import { actionInMode, recordDecision } from './guard-decisions.ts';
import { endWith } from './life.ts';
import { recordNotice } from './read-failures.ts';
import type { RunState } from './state.ts';
import type { Story } from './story.ts';

/**
 * Calls are watched for repetition, failing or not, only if a planner chose them, because a given plan repeats calls by
 * design. They are counted within one pass.
 */
const isWatched = ({ run }: RunState): boolean => run.planner === 'chooses';
const isEnforced = ({ run }: RunState): boolean => run.policy.mode === 'enforce';

/**
 * Selects the steps of a batch that may run now. A repeated call is answered with guidance or goes to a person. A call
 * that may repeat an equal call under way waits for that one.
 */
export function admit(state: RunState, steps: Step[]): { now: Step[]; later: Step[] } {
  if (!isWatched(state)) return { now: steps, later: [] };
  const now: Step[] = [];
  const later: Step[] = [];
  for (const step of steps) {
    const before = beforeCall(state.loop.watch, loopCall(state, step), state.run.policy.loops);
    if (isEnforced(state) || before.action === 'run') state.loop.watch = before.state;
    if (before.action === 'run' || !isEnforced(state)) now.push(step);
    else if (before.action === 'defer') later.push(step);
    else step.end = { kind: before.action === 'guide' ? 'guided' : 'stuck', stall: before.stall };
  }
  return { now, later };
}

/** Starts every count again, because a person told the planner what to do. */
export function forgetStalls({ loop }: RunState): void {
  loop.watch = liftStalls(loop.watch);
}

/** Lets a stalled call run because a person allowed it. Every count starts again. */
export function allowStalledCall(state: RunState, step: Step): void {
  const lifted = liftStalls(state.loop.watch);
  state.loop.watch = beforeCall(lifted, loopCall(state, step), state.run.policy.loops).state;
  step.end = null;
}

/** Counts a call that ran. A stall is recorded once; the second stall of its kind ends the run. */
export function noteCall(story: Story, step: Step): void {
  const { state } = story;
  // A call that was held did not run, but a planner that makes it again and again does repeat itself.
  if (!isWatched(state) || (attemptCount(step) === 0 && step.end?.kind !== 'unknown')) return;
  const outcome = loopOutcome(step);
  if (outcome === null) return;
  const after = afterCall(state.loop.watch, loopCall(state, step), outcome, state.run.policy.loops);
  const suspected = state.loop.watch.suspicion?.rule;
  state.loop.watch = after.state;
  if (after.stall !== undefined) recordStall(story, step, after.stall);
  else if (after.verdict?.level === 'suspect' && after.verdict.rule !== suspected) {
    const { level, rule, repeats } = after.verdict;
    story.ports.log({ event: 'stall_suspected', step_id: step.step_id, level, rule, repeats });
  }
}

/** Clears the calls under way after all calls of the batch have ended. */
export function clearCallsUnderWay({ loop }: RunState): void {
  if (Object.keys(loop.watch.under_way).length > 0) loop.watch = { ...loop.watch, under_way: {} };
}

/**
 * Counts a message of a planner that called no tool. Returns a stall when the message repeats so often that a person
 * has to be asked.
 */
export function noteMessage(story: Story, step: Step, text: string): Stall | null {
  const { state } = story;
  const after = afterMessage(state.loop.watch, text, state.run.policy.loops);
  state.loop.watch = after.state;
  if (after.stall === undefined) return null;
  if (after.is_new) recordStall(story, step, after.stall);
  return after.action === 'escalate' && isEnforced(state) ? after.stall : null;
}

/**
 * Decides what a stall leads to, by how often it was found and whether a person was already asked about it in this run.
 */
export function stallEscalation(state: RunState, stall: Stall): Escalation {
  const failure = findFailure(state.failures, stall.fingerprint);
  return escalate({
    kind: 'repeated_call',
    planner: 'chooses',
    occurrences_since_progress: failure?.since_progress ?? 1,
    escalate_at: state.run.policy.failures.escalate_at,
    stalls_of_fingerprint: (failure?.occurrence_count ?? 1) + (failure?.human_answered === true ? 1 : 0),
  });
}

/** Records that a stall goes to a person, or ends the run because a person was asked before. */
export function recordStallEscalation(story: Story, step: Step, stall: Stall, { action, why }: Escalation): void {
  const decided = action === 'system_error' ? 'system_error' : 'ask_human';
  const { rule, fingerprint } = stall;
  recordDecision(story, { kind: 'escalation', rule, action: decided, why, step_id: step.step_id, fingerprint });
}

function recordStall(story: Story, step: Step, stall: Stall): void {
  const { state, ports } = story;
  const notice = defined({
    signal_type: 'loop_stall' as const,
    kind: 'repeated_call' as const,
    error_code: stall.rule,
    tool_name: stall.tool_name,
    fingerprint: stall.fingerprint,
    ordinal: step.kind === 'planner' ? turnOrdinal(state, 'stall') : undefined,
  });
  const { failure_id } = recordNotice(state, subjectOf(step), notice, ports.now());
  const { fingerprint, rule, repeats } = stall;
  ports.log({ event: 'stall_detected', level: 'stuck', failure_id, fingerprint, rule, repeats });
  const next = stallEscalation(state, stall);
  const decided = next.action === 'system_error' ? 'system_error' : 'guide';
  const calls =
    stall.tool_name === null
      ? `the planner sent the same message ${repeats} times without calling a tool`
      : `the calls of ${stall.tool_name} repeated ${repeats} times without a new result`;
  recordDecision(story, {
    kind: 'stall',
    rule,
    action: actionInMode(state, decided),
    why: calls,
    step_id: step.step_id,
    fingerprint,
  });
  if (!isEnforced(state) || next.action !== 'system_error') return;
  endWith(state, { outcome: 'system_error', reason: 'LOOP_STALL', why: next.why });
}

const loopCall = ({ run }: RunState, { call }: Step): LoopCall => ({
  tool_name: call.tool,
  args: call.input,
  loop_key: call.loop_key,
  effect: run.manifest[call.tool]?.effect,
});

function loopOutcome(step: Step): LoopOutcome | null {
  const artifactId = artifactOf(step);
  if (artifactId !== null) {
    const success = successOf(step);
    // An output that did not travel is compared by its hash only.
    const text = success?.inline === true ? success.output : undefined;
    return { ok: true, result_hash: artifactId, probe_hash: success?.probe_hash, text };
  }
  const hasFailed = step.end?.kind === 'failed' || step.end?.kind === 'skipped' || step.end?.kind === 'unknown';
  const failure = hasFailed ? lastFailure(step) : null;
  if (step.end?.kind === 'unknown' && failure === null) return { ok: false, fingerprint: 'EFFECT_UNKNOWN' };
  if (failure === null) return null;
  const fingerprint = step.attempts.at(-1)?.record?.fingerprint ?? failure.error_code;
  return { ok: false, fingerprint, probe_hash: failure.probe_hash, text: failure.message_preview };
}
