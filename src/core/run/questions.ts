import type { Json } from '../../protocol/json.ts';
import { questionId } from '../../protocol/ids.ts';
import type { AnswerKind, Decision, PendingQuestion } from '../../protocol/run.ts';
import { isoTime } from '../../protocol/time.ts';
import { questionsLeft } from './ledger.ts';
import type { RunPorts } from './ports.ts';
import type { RunState, StepInFlight } from './state.ts';

export interface Asked {
  text: string;
  fingerprint?: string | undefined;
  tried: string[];
  options: Decision[];
}
export interface Answered {
  kind: AnswerKind;
  decision: Decision;
  text: string | null;
  by: string | null;
}

/**
 * Asks a person and waits, durably and with an end: each question has a deadline, then the next of the chain has the
 * same time, then the policy's default decides. Time spent here is not the run's.
 */
export async function askHuman(state: RunState, ports: RunPorts, step: StepInFlight, asked: Asked): Promise<Answered> {
  const { humans } = state.run.policy;
  const fallback = defaultDecision(humans.default, asked.options);
  // Steps of a guarded workflow may run side by side: their questions come one after another, or answers would go astray.
  // Looked at right before the question is set, with no await in between.
  while (state.question !== null && state.cancel === null) {
    const longest = humans.deadline_ms * (1 + humans.chain.length);
    const isFree = () => state.question === null || state.cancel !== null;
    await ports.until(isFree, longest, 'waiting for the question before');
  }
  if (questionsLeft(state) === 0) {
    ports.log({ event: 'question_not_asked', reason: 'max_questions', decision: fallback });
    return { kind: 'policy', decision: fallback, text: null, by: null };
  }
  state.questions_asked += 1;
  const askedAt = ports.now();
  const question = {
    question_id: questionId(state.run.run_id, state.questions_asked),
    text: asked.text,
    ...(asked.fingerprint === undefined ? {} : { fingerprint: asked.fingerprint }),
    tried: asked.tried.slice(-10),
    options: asked.options,
    asked_at: isoTime(askedAt),
    deadline: isoTime(askedAt + humans.deadline_ms),
    step_id: step.step_id,
    answer: null,
  };
  state.question = question;
  state.state = 'waiting_for_human';
  publish(state, ports);
  ports.log({ event: 'question_asked', question_id: question.question_id, options: question.options });
  notify(state, ports, 0);

  for (let level = 0; level <= humans.chain.length; level += 1) {
    if (level > 0) {
      state.question.deadline = isoTime(ports.now() + humans.deadline_ms);
      publish(state, ports);
      ports.log({ event: 'question_escalated', question_id: question.question_id, to: humans.chain[level - 1] ?? '' });
      notify(state, ports, level);
    }
    const came = await ports.until(
      () => state.cancel !== null || (state.question !== null && state.question.answer !== null),
      humans.deadline_ms,
      `waiting for an answer to ${question.question_id}`,
    );
    if (came) break;
  }

  const answer = state.question?.answer ?? null;
  state.question = null;
  state.answered_questions.push(question.question_id);
  state.ledger.human_wait_ms += ports.now() - askedAt;
  state.state = state.cancel === null ? 'running' : 'stopping';
  publish(state, ports);
  if (answer === null) {
    ports.log({ event: 'question_timed_out', question_id: question.question_id, decision: fallback });
    return { kind: 'timed_out', decision: fallback, text: null, by: null };
  }
  ports.log({
    event: 'question_answered',
    question_id: question.question_id,
    decision: answer.decision,
    by: answer.by,
  });
  return { kind: answer.decision === 'deny' ? 'denied' : 'answered', ...answer };
}

/** Beside the waiting, never before it: whoever listens elsewhere must not hold up the question. */
function notify(state: RunState, ports: RunPorts, escalation: number): void {
  const { notify: urls, chain } = state.run.policy.humans;
  if (urls.length === 0 || state.question === null) return;
  const { run_id, agent, goal } = state.run;
  const question = pendingQuestion(state.question);
  ports.notify({ run_id, agent, goal, question, escalation, to: chain[escalation - 1] ?? null, urls });
}

/** The safe default must be one of the question's own options; `stop` always is. */
const defaultDecision = (wanted: Decision, options: Decision[]): Decision =>
  options.includes(wanted) ? wanted : options.includes('deny') && wanted !== 'stop' ? 'deny' : 'stop';

export function publish(state: RunState, ports: RunPorts, decided?: Json): void {
  state.updated_at = ports.now();
  ports.publish({
    state: state.state,
    ...(state.ending === null ? {} : { outcome: state.ending.outcome }),
    attempts: state.ledger.used.attempts,
    question: state.question === null ? null : pendingQuestion(state.question),
    ...(decided === undefined ? {} : { decided }),
  });
}

/** What the world may see of a question: everything but the story's own bookkeeping. */
export function pendingQuestion(question: NonNullable<RunState['question']>): PendingQuestion {
  const { step_id: _step, answer: _answer, ...pending } = question;
  return pending;
}
