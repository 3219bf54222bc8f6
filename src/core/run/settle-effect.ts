import type { UnknownEffect } from '../../protocol/effects.ts';
import { canonicalJson, sha256Hex } from '../../protocol/ids.ts';
import { defined, type Json } from '../../protocol/json.ts';
import type { Decision } from '../../protocol/questions.ts';
import { isoTime } from '../../protocol/time.ts';
import type { CallFailed, CheckedOutput } from '../../protocol/tools.ts';
import { type Allowance, describeFailure, lastFailure, type Step } from './attempts.ts';
import { describeAttempts } from './describe-attempts.ts';
import { describeUnknownEffect } from './describe-unknown-effect.ts';
import { recordEffect } from './effects.ts';
import { identityOf, settleUnknown, uncountDone } from './known-effects.ts';
import { isCancelled, isOver } from './life.ts';
import { holdOutput } from './outbox.ts';
import { askHuman, describeLeaving, type QuestionOutcome } from './questions.ts';
import type { DoneEffect, RunState } from './state.ts';
import type { Story } from './story.ts';

/**
 * What a person can say about an effect. There is no `retry`: whether the call may run again follows from whether it was done.
 */
const OPTIONS: Decision[] = ['done', 'not_done', 'skip', 'stop'];

export type EffectAnswer =
  /** The effect did not happen, so the call may run. */
  | { kind: 'run'; allowed: Allowance }
  /** The step has its end. */
  | { kind: 'settled' }
  /** The run has to end. */
  | { kind: 'stop'; answer: QuestionOutcome };

/**
 * Asks a person about a side effect whose outcome is unknown, or that is done with an output that cannot be used. Without
 * an answer, and with `skip`, what is known stays as it is.
 */
export async function settleEffect(story: Story, step: Step, effect: UnknownEffect | null): Promise<EffectAnswer> {
  const { state } = story;
  const answer = await askHuman(story, {
    kind: effect === null ? 'unusable_output' : 'unknown_effect',
    step,
    text: questionAbout(step, effect, story.ports.now()),
    fingerprint: step.attempts.at(-1)?.record?.fingerprint,
    tried: describeAttempts(step),
    options: OPTIONS,
  });
  if (isOver(state)) {
    leave(state, step, effect, null);
    return { kind: 'settled' };
  }
  if (answer.kind === 'answered') {
    const key = effect?.key ?? step.key ?? '';
    story.ports.log({ event: 'effect_answered', step_id: step.step_id, decision: answer.decision, key });
  }
  switch (answer.decision) {
    case 'done':
      return confirm(story, step, effect, answer);
    case 'not_done': {
      if (effect === null) undoRecorded(state, step);
      else {
        await waitUntilOver(story, step, effect.may_act_until ?? 0);
        settleUnknown(state, effect);
        // An identical call of a later step is the same order: the receiver recognizes it by the same key.
        step.key = effect.key;
      }
      const { text, by } = answer;
      return { kind: 'run', allowed: { decision: 'not_done', text, by } };
    }
    case 'skip':
      leave(state, step, effect, answer);
      return { kind: 'settled' };
    default:
      leave(state, step, effect, answer);
      return { kind: 'stop', answer };
  }
}

/** Waits until a lost attempt cannot act any more, so that it does not meet the next one. */
export async function waitUntilOver({ state, ports }: Story, step: Step, until: number): Promise<void> {
  const waitMs = until - ports.now();
  if (waitMs <= 0) return;
  step.waiting_until = until;
  const why = `waiting until the lost attempt of step ${step.step_id} cannot act any more`;
  ports.log({ event: 'waiting_for_lost_attempt', step_id: step.step_id, wait_ms: waitMs });
  await ports.until(() => isCancelled(state), waitMs, why);
  step.waiting_until = null;
}

function leave(state: RunState, step: Step, effect: UnknownEffect | null, answer: QuestionOutcome | null): void {
  if (effect === null) leaveDone(state, step, answer);
  else leaveOpen(step, effect, answer);
}

/** The effect is done and its output stays unknown. An identical call is told so, because it would repeat the effect. */
function leaveDone(state: RunState, step: Step, answer: QuestionOutcome | null): void {
  const failure = lastFailure(step);
  const done = failure === null ? 'The call took effect, but its output cannot be used.' : describeFailure(failure);
  const said = answer === null ? '' : ` ${describeAnswer(answer)}`;
  const known = `${done}${said} The same call does not run again.`.slice(0, KNOWN_CHARS);
  const kept = findRecorded(state, step);
  if (kept !== undefined) Object.assign(kept, { known, closed: true });
  step.end = { kind: 'confirmed', known, artifact_id: null, bytes: 0 };
}

/** What is known stays as it is, and everybody who makes the same call is told so. */
export function leaveOpen(step: Step, effect: UnknownEffect, answer: QuestionOutcome | null): void {
  const said = answer === null ? '' : ` ${describeAnswer(answer)}`;
  if (said !== '' && !effect.known.includes(said.trim())) effect.known = `${effect.known}${said}`.slice(0, KNOWN_CHARS);
  step.end = { kind: 'unknown', known: `${effect.known} ${NO_REPEAT}` };
}
const KNOWN_CHARS = 6_000;
const NO_REPEAT = 'The same call does not run again while this is unknown.';

const describeAnswer = (answer: QuestionOutcome): string =>
  describeLeaving(answer, 'left it open', {
    timed_out: 'Nobody answered the question about it in time.',
    policy: 'No question was left to ask a person about it.',
  });

/** A person says that the effect happened. An output is checked by a worker, and asked for again if it does not fit. */
async function confirm(
  story: Story,
  step: Step,
  effect: UnknownEffect | null,
  answer: QuestionOutcome,
): Promise<EffectAnswer> {
  const { state } = story;
  if (effect === null) undoRecorded(state, step);
  else settleUnknown(state, effect);
  const person = answer.by ?? 'A person';
  const wrote = answer.text === null || answer.text === '' ? '' : ` ${person} wrote: "${answer.text}"`;
  const known = `${person} said that this call took effect.${wrote}`;
  let given = answer;
  for (;;) {
    const checked = given.output === undefined ? null : await checkOutput(story, step, given.output);
    if (checked === null || checked.ok) {
      keepConfirmed(state, step, known, checked);
      return { kind: 'settled' };
    }
    const again = await askHuman(story, {
      kind: 'output',
      step,
      text: `The output that was given for step ${step.step_id} (${step.call.tool}) does not fit: ${checked.problem}. Answer \`done\` again, with a corrected output or without one.`,
      tried: [],
      options: ['done', 'stop'],
    });
    const withoutOutput = `${known} The output that was given does not fit its schema, so no output is known.`;
    if (again.kind === 'answered' && again.decision === 'done') {
      given = again;
      continue;
    }
    keepConfirmed(state, step, withoutOutput, null);
    return again.kind === 'answered' ? { kind: 'stop', answer: again } : { kind: 'settled' };
  }
}

function keepConfirmed(state: RunState, step: Step, known: string, checked: Kept | null): void {
  if (checked?.inline === true) holdOutput(state, checked);
  const { artifact_id = null, bytes = 0 } = checked ?? {};
  step.end = { kind: 'confirmed', known, artifact_id, bytes };
  recordEffect(state, step, bytes, known);
}
type Kept = Extract<CheckedOutput, { ok: true }>;

/** A step of a user's own workflow has no schema here, so its output is taken as it is. */
async function checkOutput({ state, ports }: Story, step: Step, output: Json): Promise<CheckedOutput> {
  if (state.run.manifest[step.call.tool]?.schema_hash === '') {
    const text = canonicalJson(output);
    return { ok: true, output, inline: true, artifact_id: sha256Hex(text), bytes: text.length };
  }
  const { tool, output_schema } = step.call;
  return ports.checkOutput({
    step_id: step.step_id,
    tool,
    output,
    ...defined({ output_schema }),
  });
}

/** The effect was counted as done when the tool returned; a person's word replaces that. */
function undoRecorded(state: RunState, step: Step): void {
  uncountDone(state, step);
  const { effects } = state;
  const last = findRecorded(state, step);
  effects.kept = effects.kept.filter((kept) => kept !== last);
}

function findRecorded(state: RunState, step: Step): DoneEffect | undefined {
  const call = identityOf(state, step);
  return state.effects.kept.findLast((kept) => kept.call === call);
}

function questionAbout(step: Step, effect: UnknownEffect | null, now: number): string {
  const what = `Step ${step.step_id} (${step.call.phase}, ${step.call.tool})`;
  const failure: CallFailed | null = lastFailure(step);
  if (effect === null) {
    return `${what} took effect, but its output cannot be used (${failure?.error_code} ${failure?.message_preview}). What should happen? Answer \`done\` with an output if you know it.`;
  }
  if (step.end?.kind === 'held') {
    return `${what} makes a call that may have taken effect before. ${effect.known} Did it happen?${warnOfLateAct(effect, now)}`;
  }
  const how = failure === null ? 'was stopped' : describeUnknownEffect(failure);
  return `${what} ${how}. Did it happen?${warnOfLateAct(effect, now)}`;
}

/** An attempt that is not over may act after a person has looked, so the person has to know until when. */
function warnOfLateAct({ may_act_until: until = 0, still_running }: UnknownEffect, now: number): string {
  if (still_running === true) {
    return ' Its attempt did not stop after its timeout and may still act: make sure that it has ended, or restart its worker, before you answer `not_done`.';
  }
  if (until <= now) return '';
  return ` The lost attempt may still act until ${isoTime(until)}, so look after that before you answer \`not_done\`.`;
}
