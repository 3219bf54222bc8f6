import type { Json } from '../../protocol/json.ts';
import type { ArchivedStep, RecordBatch, RunArchive } from '../../protocol/records.ts';
import type { RunResult } from '../../protocol/run.ts';
import { isoTime } from '../../protocol/time.ts';
import { countFailures } from '../failures/failure-memory.ts';
import { loopTrace } from '../guardrails/loop-trace.ts';
import { rerunCount } from '../guardrails/guard-state.ts';
import type { RunState } from './state.ts';

/** The typed ending of a run; `unsaved` is told once the archive has been written, or not. */
export function resultOf(state: RunState, now: number): RunResult {
  const { run, ledger } = state;
  const ending = state.ending ?? { outcome: 'system_error', reason: 'no_ending', why: 'the run has no ending' };
  return {
    run_id: run.run_id,
    agent: run.agent,
    ...ending,
    result: bestResult(state),
    loops: rerunCount(state.guard) + 1,
    used: { ...ledger.used },
    bound: run.bound,
    questions: state.questions_asked + state.questions_lent,
    failures: countFailures(state.failures),
    unsaved: { records: 0, archive: false },
    started_at: isoTime(state.started_at),
    ended_at: isoTime(now),
  };
}

/** What the run hands back: the best loop's result once a loop was judged, else what the loop under way has. */
const bestResult = (state: RunState): RunResult['result'] => state.best?.result ?? resultOfLoop(state);

/** A planner's own output, else that of the last step that succeeded, unless that cannot be what was promised. */
export function resultOfLoop({ run, loop, outbox }: RunState): RunResult['result'] {
  if (loop.output !== null) return { output: loop.output, artifact_id: null, loop_id: loop.loop_id };
  if (run.typed_output) return null;
  const last = loop.results.findLast((result) => result.status === 'ok');
  if (last === undefined) return null;
  const held = last.artifact_id === null ? undefined : outbox.outputs[last.artifact_id];
  return { output: held?.output ?? null, artifact_id: last.artifact_id, loop_id: loop.loop_id };
}

/** The steps of the loop under way, as the archive lists them. */
export const rowsOf = ({ loop }: RunState): ArchivedStep[] =>
  loop.results.map(({ step_id, phase, tool, status, attempts, artifact_id }) => ({
    loop_id: loop.loop_id,
    step_id,
    phase,
    tool,
    status,
    attempts,
    artifact_id,
  }));

export const archiveOf = (state: RunState, result: RunResult, pending: RecordBatch): RunArchive => ({
  run_id: state.run.run_id,
  agent: state.run.agent,
  goal: state.run.goal,
  labels: state.run.labels,
  result,
  steps: [...state.past_steps, ...rowsOf(state)],
  trace: loopTrace(state.guard) as unknown as Json[],
  pending,
});
