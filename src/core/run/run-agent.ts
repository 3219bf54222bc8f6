import { CAP } from '../../protocol/caps.ts';
import { isoTime } from '../../protocol/time.ts';
import { closeFamily } from '../guardrails/guard-state.ts';
import { failureTold } from './attempts.ts';
import { millisecondsLeft } from './ledger.ts';
import { type Cancel, isOver } from './life.ts';
import { dropOutputs, waitingBatch } from './outbox.ts';
import type { RunPorts } from './ports.ts';
import { publish } from './questions.ts';
import { archiveOf, resultOf } from './result.ts';
import { reviewLoop } from './review.ts';
import { runLoop } from './run-loop.ts';
import { emptyOutbox, type RunState } from './state.ts';
import type { Story } from './story.ts';
import { openOutboxWriter } from './write-outbox.ts';

export type StoryEnd = 'ended' | 'hand_over';

/**
 * Lives a run: passes, the review of each, and one ending. It can be left between two batches (`hand_over`) and taken up
 * again from the same state, as often as needed.
 */
export async function runAgent(state: RunState, ports: RunPorts): Promise<StoryEnd> {
  const story: Story = { state, ports, outbox: openOutboxWriter(state, ports) };
  publish(story);
  while (!isOver(state)) {
    const how = await runLoop(story);
    if (how === 'hand_over') {
      await makeSmall(story);
      return 'hand_over';
    }
    if (!isOver(state)) await reviewLoop(story);
  }
  if (state.life.is === 'stopping') endAsCancelled(state, state.life.cancel);
  await closeRun(story);
  return 'ended';
}

/** The ending of a cancelled run names the side effects that may have happened. */
export function endAsCancelled(state: RunState, { by, reason }: Cancel): void {
  const unsure = state.loop.steps.filter((step) => failureTold(step).error_code === 'EFFECT_UNKNOWN');
  const said = `${by} cancelled the run${reason === '' ? '' : `: ${reason}`}`;
  const steps = unsure.map((step) => `step ${step.step_id} (${step.call.tool})`).join(', ');
  const why = unsure.length === 0 ? said : `${said}; ${steps} was under way and may have had its effect`;
  state.life = { is: 'closing', ending: { outcome: 'cancelled', reason: 'cancelled', why } };
}

/** The state travels to the next execution, so it is brought below its cap: the store takes the outputs. */
async function makeSmall({ state, outbox }: Story): Promise<void> {
  await outbox.settle();
  if (sizeOf(state) <= CAP.stateBytes) return;
  // Outputs that the store does not take cannot travel either: they count as lost, and the run goes on.
  if (!(await outbox.saveOutputs())) dropOutputs(state);
  // Inputs that a planner chose long ago are in the history; it only looks at its latest choices.
  for (const step of state.loop.steps.slice(0, -LATEST_CHOICES)) step.call = { ...step.call, input: null };
}
const LATEST_CHOICES = 10;

/** An estimate from above that needs no encoder: at most three bytes for each UTF-16 unit. */
function sizeOf(state: RunState): number {
  const text = JSON.stringify(state);
  let beyondAscii = 0;
  for (let index = 0; index < text.length; index += 1) if (text.charCodeAt(index) > 0x7f) beyondAscii += 1;
  return text.length + 2 * beyondAscii;
}

/** Writes everything that waits, makes the typed result, and archives it. */
export async function closeRun({ state, ports, outbox }: Story): Promise<void> {
  await outbox.settle();
  const now = ports.now();
  millisecondsLeft(state, now);
  state.loop.batch = [];
  state.guard = closeFamily(state.guard, isoTime(now));
  const result = resultOf(state, now);
  const saved = await ports.archive(archiveOf(state, result, waitingBatch(state, true)));
  if (saved.saved) state.outbox = emptyOutbox(state.outbox.lost);
  else ports.log({ event: 'archive_not_saved', reason: saved.reason });
  const unsaved = { records: state.outbox.unsaved.length + state.outbox.lost, archive: !saved.saved };
  state.life = { is: 'ended', result: { ...result, unsaved } };
  publish({ state, ports, outbox });
}
