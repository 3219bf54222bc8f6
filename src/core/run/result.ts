import { defined, type Json } from '../../protocol/json.ts';
import type { ArchivedStep, RecordBatch, RunArchive } from '../../protocol/records.ts';
import type { FinalStatus, RunResult, RunStatus } from '../../protocol/run.ts';
import { isoTime } from '../../protocol/time.ts';
import { countFailures } from '../failures/failure-memory.ts';
import { buildLoopTrace } from '../guardrails/loop-trace.ts';
import { rerunCount } from '../guardrails/guard-state.ts';
import { artifactOf, attemptCount, statusOfStep } from './attempts.ts';
import { inputIdOf, withInputs } from './kept-inputs.ts';
import { reportEffects } from './known-effects.ts';
import { figuresAtEnd } from './figures.ts';
import { factsOf } from './facts.ts';
import { statusOf } from './status.ts';
import type { RunState } from './state.ts';

/** Makes the typed result of a run as the archive keeps it: then only lost outputs are unsaved. */
export function makeResult(state: RunState, now: number): RunResult {
  const { run, ledger, life } = state;
  const ending =
    life.is === 'closing'
      ? life.ending
      : { outcome: 'system_error' as const, reason: 'no_ending', why: 'the run has no ending' };
  const effects = reportEffects(state);
  return {
    run_id: run.run_id,
    agent: run.agent,
    ...ending,
    // The result of the best reviewed pass, else of the pass under way.
    result: state.earlier.best?.result ?? resultOfLoop(state),
    loops: rerunCount(state.guard) + 1,
    used: { ...ledger.used },
    bound: run.bound,
    questions: ledger.questions.asked + ledger.questions.lent,
    failures: countFailures(state.failures),
    unsaved: { records: 0, outputs: 0, archive: false, ...(state.outbox.lost > 0 && { lost: state.outbox.lost }) },
    ...defined({ effects }),
    started_at: isoTime(state.started_at),
    ended_at: isoTime(now),
  };
}

/**
 * Returns the planner's own output, else the output of the last successful step, unless the agent promises a typed
 * output.
 */
export function resultOfLoop({ run, loop, outbox }: RunState): RunResult['result'] {
  if (loop.output !== null) return { output: loop.output, artifact_id: null, loop_id: loop.loop_id };
  if (run.typed_output) return null;
  const last = loop.steps.findLast((step) => statusOfStep(step) === 'ok');
  if (last === undefined) return null;
  const artifact_id = artifactOf(last);
  const held = artifact_id === null ? undefined : outbox.outputs[artifact_id];
  return { output: held?.output ?? null, artifact_id, loop_id: loop.loop_id };
}

/** Lists the steps of the current pass for the archive. */
export const archivedSteps = (state: RunState): ArchivedStep[] =>
  state.loop.steps.map((step) => ({
    loop_id: state.loop.loop_id,
    step_id: step.step_id,
    phase: step.call.phase,
    tool: step.call.tool,
    status: statusOfStep(step),
    attempts: attemptCount(step),
    artifact_id: artifactOf(step),
    ...inputIdOf(state, step),
  }));

/** What a status of the ended run has beside its result and its facts. */
const finalOf = ({ loop_id, step_id, phase, attempt, guardrails, budget, enhancement }: RunStatus): FinalStatus => ({
  loop_id,
  step_id,
  phase,
  attempt,
  guardrails,
  budget,
  ...defined({ enhancement }),
});

export const archiveOf = (state: RunState, result: RunResult, pending: RecordBatch, now: number): RunArchive => ({
  run_id: state.run.run_id,
  agent: state.run.agent,
  goal: state.run.goal,
  labels: state.run.labels,
  ...defined({ tenant: state.run.tenant }),
  facts: factsOf(state.run),
  final: finalOf(statusOf(state)),
  result,
  steps: [...state.earlier.steps, ...archivedSteps(state)],
  trace: buildLoopTrace(state.guard) as unknown as Json[],
  figures: figuresAtEnd(state, result.outcome, now),
  ...withInputs(state, pending),
});
