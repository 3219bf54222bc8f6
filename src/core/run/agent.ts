import { LIMIT } from '../../protocol/limits.ts';
import { isoTime } from '../../protocol/time.ts';
import { closeFamily, completeLoop } from '../guardrails/index.ts';
import { limitsOf, runningSeconds } from './ledger.ts';
import { runLoop } from './loop.ts';
import type { OutboxWriter } from './outbox.ts';
import { openOutbox, waitingBatch } from './outbox.ts';
import type { RunPorts } from './ports.ts';
import { publish } from './questions.ts';
import { archiveOf, resultOf } from './result.ts';
import { endWith, openLoop, type RunState } from './state.ts';

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
    judge(state, ports);
  }
  await close(state, ports, writer);
  return 'ended';
}

/** A finished loop is reviewed and the guardrails decide: another loop, or the end. */
function judge(state: RunState, ports: RunPorts): void {
  if (state.cancel !== null) {
    const { by, reason } = state.cancel;
    const why = `${by} cancelled the run${reason === '' ? '' : `: ${reason}`}`;
    return endWith(state, { outcome: 'cancelled', reason: 'cancelled', why });
  }
  if (state.ending !== null) return;
  state.state = 'reviewing';
  const report = { loop_id: state.loop.loop_id, reflection_status: 'done', reflection_result: review() };
  const judged = completeLoop(state.guard, report, state.run.policy, isoTime(ports.now()), {
    // Nobody else can report our own loop, so its name is all that tells one report from another.
    bodyHash: state.loop.loop_id,
  });
  // Our own report of our own loop is always in order: a refusal would be a bug.
  if (!judged.ok) throw new RangeError(judged.detail);
  state.guard = judged.state;
  const decision = judged.answer.decision_result;
  ports.log({ event: 'decision', loop_id: state.loop.loop_id, decision: decision.decision });
  if (decision.decision === 'rerun') {
    state.loop = openLoop(decision.new_loop_id);
    state.state = 'running';
    return;
  }
  endWith(state, {
    outcome: decision.finalize_reason === 'thresholds_met' ? 'completed' : 'finalized',
    reason: decision.finalize_reason,
    why: WHY_FINAL[decision.finalize_reason],
  });
}

/** The reviewer that passes: a finished loop is a good loop. Real reviewers take its place. */
const review = () => ({ alignment_score: 1, drift_score: 0, summary_valid: true });

const WHY_FINAL = {
  thresholds_met: 'all of its work is done',
  bias_echo: 'the same bias came back too often',
  max_reruns_reached: 'no rerun is left; the best result is kept',
  fatigue_threshold_exceeded: 'reruns stopped helping; the best result is kept',
} as const;

/** The state travels to the next execution, so it goes within its cap: the store takes what it can hold instead. */
async function makeSmall(state: RunState, writer: OutboxWriter): Promise<void> {
  await writer.settle();
  if (sizeOf(state) <= LIMIT.stateBytes) return;
  await writer.saveOutputs();
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

async function close(state: RunState, ports: RunPorts, writer: OutboxWriter): Promise<void> {
  await writer.settle();
  const now = ports.now();
  state.ledger.used.seconds = Math.min(
    runningSeconds(state.started_at, now, state.ledger.human_wait_ms),
    limitsOf(state.run).seconds ?? Infinity,
  );
  state.batch = [];
  state.guard = closeFamily(state.guard, isoTime(now));
  const result = resultOf(state, now);
  const saved = await ports.archive(archiveOf(state, result, waitingBatch(state, true)));
  if (saved.saved)
    state.outbox = { ...state.outbox, records: [], revisions: [], artifacts: [], outputs: {}, outputs_bytes: 0 };
  else ports.log({ event: 'archive_not_saved', reason: saved.reason });
  state.result = {
    ...result,
    unsaved: { records: state.outbox.records.length + state.outbox.lost, archive: !saved.saved },
  };
  state.state = 'ended';
  publish(state, ports);
}
