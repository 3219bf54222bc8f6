import { subRunId } from '../../protocol/ids.ts';
import type { RunStatus } from '../../protocol/run.ts';
import { isoTime } from '../../protocol/time.ts';
import { countFailures } from '../failures/failure-memory.ts';
import { guardrailsStatus } from '../guardrails/guardrails-status.ts';
import { leftOf, limitsOf } from './ledger.ts';
import { memoryNow } from './memory.ts';
import { pendingQuestion } from './questions.ts';
import type { RunState, StepInFlight } from './state.ts';
import { agentOfStep } from './sub-runs.ts';

/** What a run says about itself, at any moment of its life. */
export function statusOf(state: RunState): RunStatus {
  const { run, ledger } = state;
  const limit = limitsOf(run);
  const step = state.batch.find((candidate) => candidate.end === null) ?? state.batch.at(-1);
  const last = state.loop.results.at(-1);
  const told = tell(state, step);
  return {
    run_id: run.run_id,
    agent: run.agent,
    goal: run.goal,
    state: lifeState(state, step),
    ...(state.ending === null ? {} : { outcome: state.ending.outcome }),
    loop_id: state.loop.loop_id,
    step_id: step?.step_id ?? last?.step_id ?? 0,
    phase: step?.phase ?? last?.phase ?? 'start',
    attempt: step?.attempt ?? last?.attempts ?? 0,
    guardrails: { ...guardrailsStatus(state.guard) },
    budget: { limit, used: { ...ledger.used }, left: leftOf(limit, ledger.used) },
    bound: run.bound,
    failures: countFailures(memoryNow(state)),
    ...(state.question === null ? {} : { pending_question: pendingQuestion(state.question) }),
    next_action: told.next,
    why: told.why,
    ...(run.memory.enhancement.on ? {} : { enhancement: run.memory.enhancement.why }),
    ...(state.result === null ? {} : { result: state.result.result }),
    started_at: isoTime(state.started_at),
    updated_at: isoTime(state.updated_at),
  };
}

const lifeState = (state: RunState, step: StepInFlight | undefined): RunStatus['state'] =>
  state.state === 'running' && (step?.backing_off_until ?? null) !== null ? 'backing_off' : state.state;

/** One sentence that a person understands, and what comes next. */
function tell(state: RunState, step: StepInFlight | undefined): { why: string; next: string } {
  if (state.result !== null && state.ending !== null) {
    return { why: `${state.ending.outcome}: ${state.ending.why}.`, next: 'nothing: the run has ended' };
  }
  if (state.question !== null) {
    return {
      why: `Waiting for a person until ${state.question.deadline}: ${state.question.text}`,
      next: `answer with ${state.question.options.join(', ')}; else the policy decides: ${state.run.policy.humans.default}`,
    };
  }
  if (state.cancel !== null)
    return { why: `${state.cancel.by} cancelled the run; its work is being stopped.`, next: 'end' };
  if (step === undefined) return { why: 'Between two steps.', next: 'plan the next step' };
  const agent = agentOfStep(state, step);
  if (agent !== null) {
    const run = subRunId(state.run.run_id, step.step_id, step.attempt);
    return { why: `The agent ${agent} works on step ${step.step_id}, as the run ${run}.`, next: 'wait for its result' };
  }
  const name = step.kind === 'planner' ? 'the planner' : `${step.tool} (step ${step.step_id})`;
  if (step.backing_off_until !== null) {
    const latest = step.tried.at(-1) ?? '';
    return {
      why: `Attempt ${step.attempt} of ${name} failed (${latest}); waiting before the next.`,
      next: `attempt ${step.attempt + 1} at ${isoTime(step.backing_off_until)}`,
    };
  }
  return { why: `Attempt ${step.attempt} of ${name} is under way.`, next: 'wait for its outcome' };
}
