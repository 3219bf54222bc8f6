import { LIMIT } from '../../protocol/limits.ts';
import { isoTime } from '../../protocol/time.ts';
import { closeFamily } from '../guardrails/guard-state.ts';
import { runningSeconds } from './ledger.ts';
import { runLoop } from './loop.ts';
import type { OutboxWriter } from './outbox.ts';
import { dropOutputs, openOutbox, waitingBatch } from './outbox.ts';
import type { RunPorts } from './ports.ts';
import { publish } from './questions.ts';
import { archiveOf, resultOf } from './result.ts';
import { reviewLoop } from './review.ts';
import { emptyOutbox, endWith, type RunState } from './state.ts';

export type StoryEnd = 'ended' | 'hand_over';

/**
 * The life of a run: loops, the judgement of each, and one ending. It can be left between two batches (`hand_over`) and
 * taken up again from the same state, as often as need be.
 */
export async function runAgent(state: RunState, ports: RunPorts): Promise<StoryEnd> {
  const writer = openOutbox(state, ports);
  publish(state, ports);
  while (state.ending === null) {
    const how = await runLoop(state, ports, writer);
    if (how === 'hand_over') {
      await makeSmall(state, writer);
      return 'hand_over';
    }
    if (state.ending === null && state.cancel === null) await reviewLoop(state, ports);
    if (state.cancel !== null) endAsCancelled(state, state.cancel);
  }
  await closeRun(state, ports, writer);
  return 'ended';
}

function endAsCancelled(state: RunState, { by, reason }: NonNullable<RunState['cancel']>): void {
  const unsure = state.loop.results.filter((result) => result.error_code === 'EFFECT_UNKNOWN');
  const said = `${by} cancelled the run${reason === '' ? '' : `: ${reason}`}`;
  const steps = unsure.map((result) => `step ${result.step_id} (${result.tool})`).join(', ');
  const why = unsure.length === 0 ? said : `${said}; ${steps} was under way and may have had its effect`;
  endWith(state, { outcome: 'cancelled', reason: 'cancelled', why });
}

/** The state travels to the next execution, so it goes within its cap: the store takes what it can hold instead. */
async function makeSmall(state: RunState, writer: OutboxWriter): Promise<void> {
  await writer.settle();
  if (sizeOf(state) <= LIMIT.stateBytes) return;
  // What the store does not take cannot travel either: it is counted as lost, and the run goes on.
  if (!(await writer.saveOutputs())) dropOutputs(state);
  // What a planner chose long ago is in the history; its latest choices are what it still looks at.
  for (const result of state.loop.results.slice(0, -LATEST_CHOICES)) result.input = null;
}
const LATEST_CHOICES = 10;

/** At most three bytes a UTF-16 unit: an estimate from above that needs no encoder. */
function sizeOf(state: RunState): number {
  const text = JSON.stringify(state);
  let beyondAscii = 0;
  for (let index = 0; index < text.length; index += 1) if (text.charCodeAt(index) > 0x7f) beyondAscii += 1;
  return text.length + 2 * beyondAscii;
}

/** Everything that waits is written, the typed ending is made, and the archive keeps it. */
export async function closeRun(state: RunState, ports: RunPorts, writer: OutboxWriter): Promise<void> {
  await writer.settle();
  const now = ports.now();
  state.ledger.used.seconds = runningSeconds(state.started_at, now, state.ledger.human_wait_ms);
  state.batch = [];
  state.guard = closeFamily(state.guard, isoTime(now));
  const result = resultOf(state, now);
  const saved = await ports.archive(archiveOf(state, result, waitingBatch(state, true)));
  if (saved.saved) state.outbox = { ...emptyOutbox(), lost: state.outbox.lost };
  else ports.log({ event: 'archive_not_saved', reason: saved.reason });
  state.result = {
    ...result,
    unsaved: { records: state.outbox.records.length + state.outbox.lost, archive: !saved.saved },
  };
  state.state = 'ended';
  publish(state, ports);
}
