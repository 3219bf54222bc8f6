import { liftStalls, type Stall } from '../failures/loop-watch.ts';
import { type Call, personMs, type Step, subjectOf } from './attempts.ts';
import { openBatch } from './batch.ts';
import { callTool } from './call-tool.ts';
import { answerFromEarlierPass } from './effects.ts';
import { nextOfPlan } from './given-plan.ts';
import { turnsLeft } from './ledger.ts';
import { budgetSpent, endWith, isOver } from './life.ts';
import { foldSteps, keepRecordsOf, outputsNeedRoom } from './outbox.ts';
import { lastTurnBy, openTurn, plannedCalls, spentOnCalls } from './planner.ts';
import { outputsOverflow } from './planner-steps.ts';
import { askHuman } from './questions.ts';
import { humanAnswered, recordPressure } from './read-failures.ts';
import { type Perform, runStep } from './run-step.ts';
import { endingAfter, settleStep, settleSuccess } from './settle-step.ts';
import { admit, noteCall, noteMessage, settleWatch, stallEscalation } from './stalls.ts';
import type { RunState } from './state.ts';
import type { Story } from './story.ts';

/** Steps of a planner that chooses are kept for its view; older ones are in the history and the archive. */
const STEPS_IN_STATE = 200;

/**
 * One pass over the run's work: the planner gives the next batch, the batch runs, its outcomes are taken in step order.
 * Between two batches nothing is under way, so a run can be handed over there.
 */
export async function runLoop(story: Story): Promise<'done' | 'hand_over'> {
  const { state, ports, outbox } = story;
  for (;;) {
    if (isOver(state)) return 'done';
    const { plan } = state.run;
    const calls = plan === null ? await chosenCalls(story) : nextOfPlan(state, plan);
    if (calls === 'only_said' && !isOver(state)) {
      if (ports.shouldHandOver()) return 'hand_over';
      continue;
    }
    if (calls === 'only_said' || calls.length === 0 || isOver(state)) return 'done';
    const { steps, short } = openBatch(state, calls);
    await runBatch(story, steps);
    // A model that has a turn left sums up first, and is told what it wanted and did not get.
    const mayConclude = state.run.model !== null && turnsLeft(state) > 0;
    if (short !== null && !mayConclude) budgetSpent(state, short);
    const last = steps.at(-1);
    if (last !== undefined) recordPressure(state, subjectOf(last), ports.now());
    outbox.start(outputsNeedRoom(state));
    // Asked after a batch and never before the first: an execution that only hands over would go on for ever.
    if (!isOver(state) && ports.shouldHandOver()) return 'hand_over';
  }
}

/** The calls that a planner chooses next; none from a run that has neither a plan nor a planner. */
async function chosenCalls(story: Story): Promise<Call[] | 'only_said'> {
  const { state, outbox } = story;
  if (state.run.planner === 'given') return [];
  // What does not fit into the planner's view is read from the store, so it has to be there.
  if (outputsOverflow(state)) await outbox.saveOutputs();
  const last = lastTurnBy(state);
  const turn = openTurn(story, last !== null);
  state.loop.batch = [turn.step];
  await runStep(story, turn.step, turn.perform);
  await settleStep(story, turn.step, turn.perform);
  keepRecordsOf(state, [turn.step]);
  state.loop.batch = [];
  const { choice } = turn;
  if (choice === null) return [];
  // Asked after the turn, because its retries may have used up the turns that were left.
  const isLast = state.run.model !== null && turnsLeft(state) === 0;
  const spent = spentOnCalls(state) ?? (isLast ? 'model_calls' : last);
  if (spent !== null && (state.run.model !== null || choice.calls.length > 0)) {
    // Without tools a model always answers, so its answer does not mean that it is done.
    state.loop.output = choice.output ?? null;
    budgetSpent(state, spent);
    return [];
  }
  if (choice.calls.length === 0 && choice.more === true) {
    const stall = noteMessage(story, turn.step, choice.message ?? '');
    if (stall !== null) await askAboutMessages(story, turn.step, stall);
    outbox.start();
    return 'only_said';
  }
  if (choice.calls.length === 0) state.loop.output = choice.output ?? null;
  return plannedCalls(state, choice);
}

/** The planner repeats a message and calls nothing: a person may let it go on, once. */
async function askAboutMessages(story: Story, step: Step, stall: Stall): Promise<void> {
  const { state } = story;
  const next = stallEscalation(state, stall);
  if (next.action === 'system_error') {
    return endWith(state, { outcome: 'system_error', reason: 'LOOP_STALL', why: next.why });
  }
  const answer = await askHuman(story, {
    text: `The agent has said the same ${stall.repeats} times without calling a tool. Should it go on?`,
    fingerprint: stall.fingerprint,
    tried: [`messages ${stall.start} to ${stall.end}: ${stall.rule}`],
    options: ['retry', 'stop'],
  });
  humanAnswered(state, stall.fingerprint);
  if (answer.decision === 'retry') state.loop.watch = liftStalls(state.loop.watch);
  else endWith(state, { outcome: 'finalized', ...endingAfter(answer, step.step_id) });
}

async function runBatch(story: Story, steps: Step[]): Promise<void> {
  const { state } = story;
  const { loop } = state;
  loop.batch = steps;
  // Calls that may turn out to repeat equal calls under way wait for those; each wave has at least one step.
  for (let waiting = steps; waiting.length > 0;) {
    const { now, later } = admit(state, waiting);
    await runWave(
      story,
      now,
      waiting.filter((step) => !later.includes(step)),
    );
    settleWatch(state);
    waiting = isOver(state) ? [] : later;
  }
  loop.batch = [];
  foldSteps(state, steps);
  if (state.run.planner === 'chooses') forgetOldSteps(state);
}

function forgetOldSteps(state: RunState): void {
  const { steps } = state.loop;
  if (steps.length <= STEPS_IN_STATE) return;
  keepRecordsOf(state, steps.splice(0, steps.length - STEPS_IN_STATE));
}

/** Runs the admitted steps side by side, then settles all that do not wait for others, in step order. */
async function runWave(story: Story, admitted: Step[], wave: Step[]): Promise<void> {
  const { state } = story;
  const perform = callTool(story);
  for (const step of admitted) answerFromEarlierPass(story, step);
  for (const step of admitted) if (needsApproval(state, step)) await seekApproval(story, step);
  const toRun = isOver(state) ? [] : admitted.filter((step) => step.end === null);
  const [only] = toRun;
  // One step is the common case, and waiting for a list of one costs as much as the step itself.
  if (toRun.length === 1 && only !== undefined) {
    await runStep(story, only, perform);
    state.ledger.human_wait_ms += personMs(only);
  } else await runSideBySide(story, toRun, perform);
  for (const step of wave) {
    if (!settleSuccess(state, step)) await settleStep(story, step, perform);
    noteCall(story, step);
  }
}

/** Time beyond the longest work among the steps was spent waiting for people, so it does not count as the run's. */
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

/** A tool that needs approval gets it before anything of it runs. */
async function seekApproval(story: Story, step: Step): Promise<void> {
  const { state } = story;
  const { phase, tool } = step.call;
  const answer = await askHuman(story, {
    text: `Step ${step.step_id} (${phase}) wants to run ${tool}. May it?`,
    tried: [],
    options: ['approve', 'deny', 'stop'],
  });
  if (answer.decision === 'approve' || isOver(state)) return;
  const refused = { answered: 'denied', denied: 'denied', timed_out: 'timed_out', policy: 'policy' } as const;
  step.end = { kind: 'refused', status: refused[answer.kind] };
  if (answer.decision === 'stop') endWith(state, { outcome: 'finalized', ...endingAfter(answer, step.step_id) });
}
