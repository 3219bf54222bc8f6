import type { StampedFact } from './project-event.ts';
import type { Json } from '../../protocol/json.ts';
import type { ProjectedAttempt, ProjectedStep } from '../views.ts';
import type { AttemptPlace, Fact, RecordedOutput } from './run-event.ts';

/** A step with its values as history has them. People see previews of them, which `previewSteps` makes. */
export type RecordedStep = Omit<ProjectedStep, 'input_artifact_id' | 'attempts'> & { attempts: RecordedAttempt[] };
export type RecordedAttempt = Omit<ProjectedAttempt, 'output' | 'output_artifact_id'> & { output?: RecordedOutput };

/** Collects the steps of a run with all their attempts, in step order. */
export function collectSteps(facts: readonly StampedFact[]): RecordedStep[] {
  const steps = new Map<number, RecordedStep>();
  for (const fact of facts) merge(steps, fact, fact.at);
  // The input is changed before the first attempt, so the step is known only afterwards.
  for (const fact of facts) {
    const step = fact.event === 'input_edited' ? steps.get(fact.step_id) : undefined;
    if (step !== undefined && fact.event === 'input_edited') step.edited = fact.edited;
  }
  return [...steps.values()].sort((one, other) => one.step_id - other.step_id);
}

function merge(steps: Map<number, RecordedStep>, fact: Fact, at: string): void {
  switch (fact.event) {
    case 'attempt_started': {
      const { attempt, wait_ms, input } = fact;
      putAttempt(steps, fact, { attempt, started_at: at, ended_at: null, outcome: 'running', wait_ms }, input);
      return;
    }
    case 'attempt_ended': {
      const { attempt, started_at, ended_at, outcome, wait_ms } = fact;
      // A reconciled attempt gets a new end and keeps its start.
      const before = findAttempt(steps, fact.step_id, attempt);
      const began = fact.reconciled && before ? before.started_at : started_at;
      putAttempt(steps, fact, { attempt, started_at: began, ended_at, outcome, wait_ms });
      return;
    }
    case 'attempt_output': {
      const attempt = findAttempt(steps, fact.step_id, fact.attempt);
      if (attempt !== undefined) attempt.output = fact.output;
      return;
    }
    case 'failure_recorded': {
      // A planner turn has the number of the step after it; only the tool name tells them apart.
      const belongsToStep = steps.get(fact.step_id)?.tool === fact.tool_name && fact.tool_call_id !== null;
      const attempt = belongsToStep ? findAttempt(steps, fact.step_id, fact.attempt) : undefined;
      if (attempt === undefined) return;
      attempt.failure_id = fact.failure_id;
      if (fact.manifest_id !== null) attempt.manifest_id = fact.manifest_id;
      return;
    }
    default:
  }
}

const findAttempt = (steps: Map<number, RecordedStep>, stepId: number, attempt: number): RecordedAttempt | undefined =>
  steps.get(stepId)?.attempts.find((candidate) => candidate.attempt === attempt);

function putAttempt(
  steps: Map<number, RecordedStep>,
  place: AttemptPlace,
  attempt: RecordedAttempt,
  input?: Json,
): void {
  const { loop_id, step_id, phase, tool } = place;
  const step = steps.get(step_id) ?? { loop_id, step_id, phase, tool, input: null, attempts: [] };
  steps.set(step_id, step);
  // An attempt may get another input than the one before it, if a person changed it: the latest is shown.
  if (input !== undefined) step.input = input;
  const position = step.attempts.findIndex((known) => known.attempt === attempt.attempt);
  if (position === -1) step.attempts.push(attempt);
  else step.attempts[position] = { ...step.attempts[position], ...attempt };
}
