import { enhancementArm, HELD_OUT } from '../retry/enhancement-arm.ts';
import { defined } from '../../protocol/json.ts';
import { subRunId } from '../../protocol/ids.ts';
import type { RunStatus } from '../../protocol/run.ts';
import { isoTime } from '../../protocol/time.ts';
import { countFailures } from '../failures/failure-memory.ts';
import { buildGuardrailsStatus } from '../guardrails/guardrails-status.ts';
import { attemptCount, type Step, listFailedAttempts } from './attempts.ts';
import { describeQuestion } from './describe-question.ts';
import { defaultDecision } from './explain-options.ts';
import { leftOf, limitsOf } from './ledger.ts';
import { decidedOutcome, toWireState, openQuestion } from './life.ts';
import { reportEffects } from './known-effects.ts';
import { unsavedOf } from './outbox.ts';
import { memoryNow } from './read-failures.ts';
import { factsOf } from './facts.ts';
import type { RunState } from './state.ts';
import { agentOfStep } from './sub-runs.ts';

/** Returns the status of a run, at any moment of its life. */
export function statusOf(state: RunState): RunStatus {
  const { run, ledger, loop, life } = state;
  const limit = limitsOf(run);
  const underWay = loop.batch.find((step) => step.end === null) ?? loop.batch.at(-1);
  const step = underWay ?? loop.steps.at(-1);
  const question = openQuestion(state);
  const explanation = explain(state, underWay);
  const isBackingOff = life.is === 'running' && life.reviewing !== true && typeof underWay?.waiting_until === 'number';
  return defined({
    run_id: run.run_id,
    agent: run.agent,
    goal: run.goal,
    ...factsOf(run),
    state: isBackingOff ? ('backing_off' as const) : toWireState(state),
    outcome: decidedOutcome(state),
    loop_id: loop.loop_id,
    step_id: step?.step_id ?? 0,
    phase: step?.call.phase ?? 'start',
    attempt: step === undefined ? 0 : attemptCount(step),
    guardrails: { ...buildGuardrailsStatus(state.guard) },
    budget: { limit, used: { ...ledger.used }, left: leftOf(limit, ledger.used) },
    bound: run.bound,
    failures: countFailures(memoryNow(state)),
    pending_question: question === null ? undefined : describeQuestion(state, question),
    next_action: explanation.next,
    why: explanation.why,
    enhancement: explainEnhancement(run),
    result: life.is === 'ended' ? life.result.result : undefined,
    unsaved: life.is === 'ended' ? life.result.unsaved : unsavedOf(state),
    effects: life.is === 'ended' ? life.result.effects : reportEffects(state),
    started_at: isoTime(state.started_at),
    updated_at: isoTime(state.updated_at),
  });
}

/** Says why retries do not enhance prompts; undefined if they do, or if the policy says so. */
function explainEnhancement(run: RunState['run']): string | undefined {
  if (!run.memory.enhancement.on) return run.memory.enhancement.why;
  return enhancementArm(run) === 'baseline' ? HELD_OUT : undefined;
}

interface Explanation {
  why: string;
  next: string;
}

/** Explains in one sentence where the run is, and what comes next. */
function explain(state: RunState, step: Step | undefined): Explanation {
  const { life } = state;
  switch (life.is) {
    case 'preparing':
      return { why: 'The run is being prepared: a worker resolves its agent and tools.', next: 'start' };
    case 'waiting': {
      const { question } = life;
      const options = question.options.join(', ');
      const fallback = defaultDecision(state.run.policy.humans.default, question.options);
      return {
        why: `Waiting for a person until ${question.deadline}: ${question.text}`,
        next: `answer with ${options}; else the policy decides: ${fallback}`,
      };
    }
    case 'stopping':
      return { why: `${life.cancel.by} cancelled the run; its work is being stopped.`, next: 'end' };
    case 'closing':
      return { why: `${life.ending.outcome}: ${life.ending.why}; its results are being saved.`, next: 'end' };
    case 'ended':
      return { why: `${life.result.outcome}: ${life.result.why}.`, next: 'nothing: the run has ended' };
    case 'running':
      return step === undefined
        ? { why: 'The run is between two steps.', next: 'plan the next step' }
        : explainStep(state, step);
  }
}

function explainStep(state: RunState, step: Step): Explanation {
  const attempt = attemptCount(step);
  const agent = agentOfStep(state, step);
  if (agent !== null) {
    const run = subRunId(state.run.run_id, step.step_id, attempt);
    return { why: `The agent ${agent} works on step ${step.step_id}, as the run ${run}.`, next: 'wait for its result' };
  }
  const name = step.kind === 'planner' ? 'the planner' : `${step.call.tool} (step ${step.step_id})`;
  if (step.waiting_until === null) {
    return { why: `Attempt ${attempt} of ${name} is under way.`, next: 'wait for its outcome' };
  }
  const latest = listFailedAttempts(step).at(-1) ?? '';
  return {
    why: `Attempt ${attempt} of ${name} failed (${latest}); the run waits before the next attempt.`,
    next: `attempt ${attempt + 1} at ${isoTime(step.waiting_until)}`,
  };
}
