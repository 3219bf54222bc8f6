import { liftStalls, type Stall } from '../failures/loop-watch.ts';
import { type Call, personMs, type Step, subjectOf } from './attempts.ts';
import { openBatch } from './batch.ts';
import { callTool } from './call-tool.ts';
import { describeEarlierCalls } from './describe-attempts.ts';
import { answerFromEarlierPass, holdIfUnknown, noteFailedEffect, separateIdentical } from './effects.ts';
import { editInput } from './edited-input.ts';
import { readyCalls } from './given-plan.ts';
import { turnsLeft } from './ledger.ts';
import { endForBudget, endWith, isOver } from './life.ts';
import { foldSteps, keepUnsavedRecords, outputsExceedCap } from './outbox.ts';
import { budgetNearlySpent, openTurn, plannedCalls, budgetSpentOnCalls } from './planner.ts';
import { outputsOverflow } from './planner-steps.ts';
import { askHuman } from './questions.ts';
import { lastSubject, recordHumanAnswer, recordPressure } from './read-failures.ts';
import { type Perform, runStep } from './run-step.ts';
import { endingAfter, settleStep, settleSuccess } from './settle-step.ts';
import { admit, noteCall, noteMessage, clearCallsUnderWay, recordStallEscalation, stallEscalation } from './stalls.ts';
import type { RunState } from './state.ts';
import type { Story } from './story.ts';

/** The number of steps that are kept for a planner's view. Older ones are in the history and the archive. */
const STEPS_IN_STATE = 200;

/**
 * Executes one pass: the planner gives the next batch, the batch runs, and its outcomes are settled in step order.
 * Nothing is under way between two batches, so a run can be handed over there.
 */
export async function runLoop(story: Story): Promise<'done' | 'hand_over'> {
  const { state, ports, outbox } = story;
  for (;;) {
    if (isOver(state)) return 'done';
    const { plan } = state.run;
    const calls = plan === null ? await chosenCalls(story) : readyCalls(state, plan);
    if (calls === 'message_only' && !isOver(state)) {
      recordPressure(state, lastSubject(state), ports.now());
      if (ports.shouldHandOver()) return 'hand_over';
      continue;
    }
    if (calls === 'message_only' || calls.length === 0 || isOver(state)) return 'done';
    const { steps, short } = openBatch(state, calls);
    await runBatch(story, steps);
    // A model that has a turn left may summarise first, and is told which calls were not made.
    const mayConclude = state.run.model !== null && turnsLeft(state) > 0;
    if (short !== null && !mayConclude) endForBudget(state, short);
    const last = steps.at(-1);
    if (last !== undefined) recordPressure(state, subjectOf(last), ports.now());
    outbox.start(outputsExceedCap(state));
    // Checked after a batch and never before the first, because an execution that does no work before it hands over
    // would repeat for ever.
    if (!isOver(state) && ports.shouldHandOver()) return 'hand_over';
  }
}

/** Returns the calls that the planner chooses next. Empty for a run that has neither a plan nor a planner. */
async function chosenCalls(story: Story): Promise<Call[] | 'message_only'> {
  const { state, outbox } = story;
  if (state.run.planner === 'given') return [];
  // The planner reads outputs that do not fit into its view from the store, so they are saved first.
  if (outputsOverflow(state)) await outbox.saveOutputs();
  const last = budgetNearlySpent(state);
  const turn = openTurn(story, last !== null);
  state.loop.batch = [turn.step];
  await runStep(story, turn.step, turn.perform);
  await settleStep(story, turn.step, turn.perform);
  keepUnsavedRecords(state, [turn.step]);
  state.loop.batch = [];
  const { choice } = turn;
  if (choice === null) return [];
  // Checked after the turn, because retries of the turn may have used the remaining model calls.
  const isLast = state.run.model !== null && turnsLeft(state) === 0;
  const spent = budgetSpentOnCalls(state) ?? (isLast ? 'model_calls' : last);
  if (spent !== null && (state.run.model !== null || choice.calls.length > 0)) {
    // A model that may not call tools always answers, so its answer does not mean that it is done.
    state.loop.output = choice.output ?? null;
    endForBudget(state, spent);
    return [];
  }
  if (choice.calls.length === 0 && choice.more === true) {
    const stall = noteMessage(story, turn.step, choice.message ?? '');
    if (stall !== null) await askAboutMessages(story, turn.step, stall);
    outbox.start();
    return 'message_only';
  }
  if (choice.calls.length === 0) state.loop.output = choice.output ?? null;
  return plannedCalls(state, choice);
}

/** Asks a person about a planner that repeats a message and calls no tool. The person may let it continue once. */
async function askAboutMessages(story: Story, step: Step, stall: Stall): Promise<void> {
  const { state } = story;
  const next = stallEscalation(state, stall);
  recordStallEscalation(story, step, stall, next);
  if (next.action === 'system_error') {
    return endWith(state, { outcome: 'system_error', reason: 'LOOP_STALL', why: next.why });
  }
  const answer = await askHuman(story, {
    kind: 'stuck',
    step,
    text: `The agent has sent the same message ${stall.repeats} times without calling a tool. Should it continue?`,
    fingerprint: stall.fingerprint,
    tried: [`messages ${stall.start} to ${stall.end}: ${stall.rule}`],
    options: ['retry', 'stop'],
  });
  recordHumanAnswer(state, stall.fingerprint);
  if (answer.decision === 'retry') state.loop.watch = liftStalls(state.loop.watch);
  else endWith(state, { outcome: 'finalized', ...endingAfter(answer, step.step_id) });
}

async function runBatch(story: Story, steps: Step[]): Promise<void> {
  const { state } = story;
  const { loop } = state;
  loop.batch = steps;
  // A call that may repeat an equal call under way waits for that one, and so does an identical side effect. Each wave
  // has at least one step.
  for (let waiting = steps; waiting.length > 0;) {
    const { first, rest } = separateIdentical(state, waiting);
    const { now, later } = admit(state, first);
    await runWave(
      story,
      now,
      first.filter((step) => !later.includes(step)),
    );
    clearCallsUnderWay(state);
    waiting = isOver(state) ? [] : [...later, ...rest].toSorted((one, other) => one.step_id - other.step_id);
  }
  loop.batch = [];
  foldSteps(state, steps);
  if (state.run.planner === 'chooses') dropOldSteps(state);
}

function dropOldSteps(state: RunState): void {
  const { steps } = state.loop;
  if (steps.length <= STEPS_IN_STATE) return;
  keepUnsavedRecords(state, steps.splice(0, steps.length - STEPS_IN_STATE));
}

/** Runs the admitted steps in parallel, then settles every step that waits for no other, in step order. */
async function runWave(story: Story, admitted: Step[], wave: Step[]): Promise<void> {
  const { state } = story;
  for (const step of admitted) {
    answerFromEarlierPass(story, step);
    holdIfUnknown(story, step);
  }
  for (const step of admitted) if (needsApproval(state, step)) await requestApproval(story, step);
  const toRun = isOver(state) ? [] : admitted.filter((step) => step.end === null);
  // A person may have changed an input, so that two side effects of this wave are identical now.
  const { first, rest } = separateIdentical(state, toRun);
  await runAndSettle(story, first, rest.length === 0 ? wave : wave.filter((step) => !rest.includes(step)));
  for (const step of rest) {
    if (isOver(state)) return;
    holdIfUnknown(story, step);
    await runAndSettle(story, step.end === null ? [step] : [], [step]);
  }
}

async function runAndSettle(story: Story, toRun: Step[], wave: Step[]): Promise<void> {
  const { state } = story;
  const perform = callTool(story);
  const [only] = toRun;
  // Most waves have one step, and `Promise.all` for a single step costs as much as the step itself.
  if (toRun.length === 1 && only !== undefined) {
    await runStep(story, only, perform);
    state.ledger.human_wait_ms += personMs(only);
  } else await runSideBySide(story, toRun, perform);
  // Steps are settled one after another, and a step that runs again meanwhile has to know what may have happened.
  for (const step of wave) noteFailedEffect(state, step);
  for (const step of wave) {
    if (!settleSuccess(state, step)) await settleStep(story, step, perform);
    noteCall(story, step);
  }
}

/**
 * Runs steps in parallel. Time beyond the longest work of a step was spent waiting for people, so the run's time budget
 * leaves it out.
 */
async function runSideBySide(story: Story, steps: Step[], perform: Perform): Promise<void> {
  const { state, ports } = story;
  const begunAt = ports.now();
  let longestMs = 0;
  const runOne = async (step: Step): Promise<void> => {
    await runStep(story, step, perform);
    longestMs = Math.max(longestMs, ports.now() - begunAt - personMs(step));
  };
  await Promise.all(steps.map(runOne));
  state.ledger.human_wait_ms += Math.max(0, ports.now() - begunAt - longestMs);
}

const needsApproval = (state: RunState, step: Step): boolean =>
  step.end === null && state.run.manifest[step.call.tool]?.approval === true && !isOver(state);

/** Asks a person to approve the step before it runs. */
async function requestApproval(story: Story, step: Step): Promise<void> {
  const { state } = story;
  const { phase, tool } = step.call;
  const answer = await askHuman(story, {
    kind: 'approval',
    step,
    text: `Step ${step.step_id} (${phase}) wants to run ${tool}. Do you approve?`,
    tried: describeEarlierCalls(state, step),
    options: ['approve', 'deny', 'stop'],
  });
  if (isOver(state)) return;
  if (answer.decision === 'approve') {
    const { input, by, text } = answer;
    if (input === undefined || by === null) return;
    editInput(state, step, { input, by, text }, story.ports.now());
    story.outbox.start();
    // The call is another one now, and that one may have taken effect before.
    answerFromEarlierPass(story, step);
    holdIfUnknown(story, step);
    return;
  }
  const refused = { answered: 'denied', denied: 'denied', timed_out: 'timed_out', policy: 'policy' } as const;
  step.end = { kind: 'refused', status: refused[answer.kind] };
  if (answer.decision === 'stop') endWith(state, { outcome: 'finalized', ...endingAfter(answer, step.step_id) });
}
