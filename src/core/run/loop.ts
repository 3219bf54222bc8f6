import { liftStalls, type Stall } from '../failures/loop-watch.ts';
import { openBatch, type PlannedCall } from './batch.ts';
import { answerFromEarlierPass } from './effects.ts';
import { nextOfPlan } from './given-plan.ts';
import { turnsLeft } from './ledger.ts';
import { humanAnswered, notePressure } from './memory.ts';
import { outputsNeedRoom, type OutboxWriter } from './outbox.ts';
import { lastTurnBy, openTurn, outputsOverflow, plannedCalls, spentOfCalls } from './planner.ts';
import type { RunPorts } from './ports.ts';
import { askHuman } from './questions.ts';
import { endingOf, keptAtOnce, settleStep } from './settle-step.ts';
import { admit, escalationOfStall, noteCall, noteMessage, settleWatch } from './stalls.ts';
import { budgetSpent, endWith, type RunState, type StepInFlight } from './state.ts';
import { type Perform, performTool, runStep } from './step.ts';

/** Results of a planner that chooses are kept for its view; older ones are in the history and the archive. */
const RESULTS_IN_STATE = 200;

/**
 * One pass over the run's work: the planner gives the next batch, the batch runs, its outcomes fold in step order.
 * Between two batches nothing is under way, so that is where a run can be handed over.
 */
export async function runLoop(state: RunState, ports: RunPorts, writer: OutboxWriter): Promise<'done' | 'hand_over'> {
  for (;;) {
    if (isOver(state)) return 'done';
    const { plan } = state.run;
    const calls = plan === null ? await chosenCalls(state, ports, writer) : nextOfPlan(state, plan);
    if (calls === 'said' && !isOver(state)) {
      if (ports.shouldHandOver()) return 'hand_over';
      continue;
    }
    if (calls === 'said' || calls.length === 0 || isOver(state)) return 'done';
    const { steps, short } = openBatch(state, calls);
    await runBatch(state, ports, writer, steps);
    // A model that has a turn left sums up first; what it wanted and did not get is told to it.
    const mayConclude = state.run.model !== null && turnsLeft(state.run, state.ledger) > 0;
    if (short !== null && !mayConclude) budgetSpent(state, short);
    const last = steps.at(-1);
    if (last !== undefined) notePressure(state, last, ports.now());
    writer.kick(outputsNeedRoom(state));
    // Asked after a batch, never before the first: an execution that only hands over would go on for ever.
    if (!isOver(state) && ports.shouldHandOver()) return 'hand_over';
  }
}

/** What a planner that chooses wants next; nothing from a run that has neither a plan nor a planner. */
async function chosenCalls(state: RunState, ports: RunPorts, writer: OutboxWriter): Promise<PlannedCall[] | 'said'> {
  if (state.run.planner === 'given') return [];
  // What does not fit into the view is read from the store: it has to be there.
  if (outputsOverflow(state)) await writer.saveOutputs();
  const last = lastTurnBy(state);
  const turn = openTurn(state, ports, last !== null);
  state.batch = [turn.step];
  await runStep(state, ports, writer, turn.step, turn.perform);
  await settleStep(state, ports, writer, turn.step, turn.perform);
  state.batch = [];
  const { choice } = turn;
  if (choice === null) return [];
  // Asked after the turn: its retries may have used up the turns that were left.
  const isLast = state.run.model !== null && turnsLeft(state.run, state.ledger) === 0;
  const spent = spentOfCalls(state) ?? (isLast ? 'model_calls' : last);
  if (spent !== null && (state.run.model !== null || choice.calls.length > 0)) {
    // Without tools a model always answers, so that it did says nothing about being done.
    state.loop.output = choice.output ?? null;
    budgetSpent(state, spent);
    return [];
  }
  if (choice.calls.length === 0 && choice.more === true) {
    const stall = noteMessage(state, ports, turn.step, choice.message ?? '');
    if (stall !== null) await askAboutMessages(state, ports, turn.step, stall);
    writer.kick();
    return 'said';
  }
  if (choice.calls.length === 0) state.loop.output = choice.output ?? null;
  return plannedCalls(choice);
}

/** A planner that says the same again and again, and calls nothing: a person may let it go on, once. */
async function askAboutMessages(state: RunState, ports: RunPorts, step: StepInFlight, stall: Stall): Promise<void> {
  const next = escalationOfStall(state, stall);
  if (next.action === 'system_error') {
    return endWith(state, { outcome: 'system_error', reason: 'LOOP_STALL', why: next.why });
  }
  const answer = await askHuman(state, ports, step, {
    text: `The agent has said the same ${stall.repeats} times without calling a tool. Should it go on?`,
    fingerprint: stall.fingerprint,
    tried: [`messages ${stall.start} to ${stall.end}: ${stall.rule}`],
    options: ['retry', 'stop'],
  });
  humanAnswered(state, stall.fingerprint);
  if (answer.decision === 'retry') state.loop.watch = liftStalls(state.loop.watch);
  else if (state.cancel === null) endWith(state, { outcome: 'finalized', ...endingOf(answer, step.step_id) });
}

async function runBatch(state: RunState, ports: RunPorts, writer: OutboxWriter, steps: StepInFlight[]): Promise<void> {
  state.batch = steps;
  // Calls that may turn out to be stuck by their equals under way wait for them: each wave has one step at least.
  for (let waiting = steps; waiting.length > 0;) {
    const { now, later } = admit(state, waiting);
    const wave = waiting.filter((step) => !later.includes(step));
    await runWave(state, ports, writer, now, wave);
    settleWatch(state);
    waiting = isOver(state) ? [] : later;
  }
  state.batch = [];
  if (state.run.planner === 'chooses') state.loop.results.splice(0, state.loop.results.length - RESULTS_IN_STATE);
}

/** Runs those that may run, side by side, then settles all that are not waiting for others, in step order. */
async function runWave(
  state: RunState,
  ports: RunPorts,
  writer: OutboxWriter,
  admitted: StepInFlight[],
  wave: StepInFlight[],
): Promise<void> {
  const perform = performTool(state, ports);
  for (const step of admitted) answerFromEarlierPass(state, ports, step);
  for (const step of admitted) if (needsApproval(state, step)) await seekApproval(state, ports, step);
  const toRun = isOver(state) ? [] : admitted.filter((step) => step.end === null);
  const [only] = toRun;
  // One step is the common case, and waiting for a list of one costs as much as the step itself.
  if (toRun.length === 1 && only !== undefined) {
    await runStep(state, ports, writer, only, perform);
    state.ledger.human_wait_ms += only.person_ms;
  } else await runSideBySide(state, ports, writer, toRun, perform);
  for (const step of wave) {
    if (!keptAtOnce(state, step)) await settleStep(state, ports, writer, step, perform);
    noteCall(state, ports, step);
  }
}

/** What is longer than the longest work among them was waiting for people, which is no time of the run's. */
async function runSideBySide(
  state: RunState,
  ports: RunPorts,
  writer: OutboxWriter,
  steps: StepInFlight[],
  perform: Perform,
): Promise<void> {
  const begunAt = ports.now();
  let longest = 0;
  const runOne = async (step: StepInFlight): Promise<void> => {
    await runStep(state, ports, writer, step, perform);
    longest = Math.max(longest, ports.now() - begunAt - step.person_ms);
  };
  await Promise.all(steps.map(runOne));
  state.ledger.human_wait_ms += Math.max(0, ports.now() - begunAt - longest);
}

const needsApproval = (state: RunState, step: StepInFlight): boolean =>
  step.end === null && state.run.manifest[step.tool]?.approval === true && !isOver(state);

/** A tool that needs a person's word gets it before anything of it runs. */
async function seekApproval(state: RunState, ports: RunPorts, step: StepInFlight): Promise<void> {
  const answer = await askHuman(state, ports, step, {
    text: `Step ${step.step_id} (${step.phase}) wants to run ${step.tool}. May it?`,
    tried: [],
    options: ['approve', 'deny', 'stop'],
  });
  if (answer.decision === 'approve' || state.cancel !== null) return;
  const refused = { answered: 'denied', denied: 'denied', timed_out: 'timed_out', policy: 'policy' } as const;
  step.end = { kind: 'refused', status: refused[answer.kind] };
  if (answer.decision === 'stop') endWith(state, { outcome: 'finalized', ...endingOf(answer, step.step_id) });
}

const isOver = (state: RunState): boolean => state.ending !== null || state.cancel !== null;
