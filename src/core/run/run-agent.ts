import { CAP } from '../../protocol/caps.ts';
import { isoTime } from '../../protocol/time.ts';
import { closeFamily } from '../guardrails/guard-state.ts';
import { summarizeFailure } from './attempts.ts';
import { millisecondsLeft } from './ledger.ts';
import { type Cancel, isOver } from './life.ts';
import { leaveOutputsInHistory, unsavedOf, collectWaiting } from './outbox.ts';
import type { RunPorts } from './ports.ts';
import { publish } from './questions.ts';
import { archiveOf, makeResult } from './result.ts';
import { reviewLoop } from './review.ts';
import { runLoop } from './run-loop.ts';
import { emptyOutbox, type RunState } from './state.ts';
import type { Story } from './story.ts';
import { openOutboxWriter } from './write-outbox.ts';

export type StoryEnd = 'ended' | 'hand_over';

/**
 * Executes a run: its passes, the review of each, and one ending. Between two batches it may return `hand_over`; it can
 * then be called again with the same state in a new execution.
 */
export async function runAgent(state: RunState, ports: RunPorts): Promise<StoryEnd> {
  const story: Story = { state, ports, outbox: openOutboxWriter(state, ports) };
  publish(story);
  while (!isOver(state)) {
    const how = await runLoop(story);
    if (how === 'hand_over') {
      await shrinkState(story);
      return 'hand_over';
    }
    if (!isOver(state)) await reviewLoop(story);
  }
  if (state.life.is === 'stopping') endAsCancelled(state, state.life.cancel);
  await closeRun(story);
  return 'ended';
}

/** Ends a cancelled run. The ending names the side effects that may have happened. */
export function endAsCancelled(state: RunState, { by, reason }: Cancel): void {
  const unsure = state.loop.steps.filter((step) => summarizeFailure(step).error_code === 'EFFECT_UNKNOWN');
  const said = `${by} cancelled the run${reason === '' ? '' : `: ${reason}`}`;
  const steps = unsure.map((step) => `step ${step.step_id} (${step.call.tool})`).join(', ');
  const why = unsure.length === 0 ? said : `${said}; ${steps} was under way and may have had its effect`;
  state.life = { is: 'closing', ending: { outcome: 'cancelled', reason: 'cancelled', why } };
}

/** Brings the state below its cap before it is handed over, by writing outputs to the store. */
async function shrinkState({ state, outbox }: Story): Promise<void> {
  await outbox.settle();
  if (sizeOf(state) <= CAP.stateBytes) return;
  // Outputs that the store does not take stay behind in this execution's history, and are read from there.
  if (!(await outbox.saveOutputs())) leaveOutputsInHistory(state);
  // The history has the inputs of older steps, and the planner only looks at its latest choices.
  for (const step of state.loop.steps.slice(0, -LATEST_CHOICES)) step.call = { ...step.call, input: null };
}
const LATEST_CHOICES = 10;

/** An upper estimate of the size in bytes that needs no encoder: three bytes for each UTF-16 unit. */
function sizeOf(state: RunState): number {
  const text = JSON.stringify(state);
  if (3 * text.length <= CAP.stateBytes) return 3 * text.length;
  let beyondAscii = 0;
  for (let index = 0; index < text.length; index += 1) if (text.charCodeAt(index) > 0x7f) beyondAscii += 1;
  return text.length + 2 * beyondAscii;
}

/**
 * Writes everything that waits, makes the typed result, and archives it. When the store is away, another workflow writes
 * the archive later, so that the run can tell its result now.
 */
export async function closeRun({ state, ports, outbox }: Story): Promise<void> {
  await outbox.settle();
  const now = ports.now();
  millisecondsLeft(state, now);
  state.loop.batch = [];
  state.guard = closeFamily(state.guard, isoTime(now));
  const result = makeResult(state, now);
  const archive = archiveOf(state, result, collectWaiting(state, true), now);
  const saved = await ports.archive(archive);
  if (saved.saved) {
    state.outbox = emptyOutbox(state.outbox.lost);
    state.life = { is: 'ended', result };
  } else {
    ports.log({ event: 'archive_not_saved', reason: saved.reason });
    const unsaved = { ...unsavedOf(state), why: saved.reason };
    await ports.archiveLater(archive);
    state.life = { is: 'ended', result: { ...result, unsaved } };
  }
  publish({ state, ports, outbox });
}
