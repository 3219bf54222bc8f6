import { questionId } from '../../protocol/ids.ts';
import { defined, type Json } from '../../protocol/json.ts';
import type { AnswerKind, Decision, QuestionKind } from '../../protocol/questions.ts';
import { isoTime } from '../../protocol/time.ts';
import type { Step } from './attempts.ts';
import { artifactOfQuestion, describeQuestion } from './describe-question.ts';
import { defaultDecision } from './explain-options.ts';
import { countQuestion } from './figures.ts';
import { millisecondsLeft, questionsLeft } from './ledger.ts';
import { closeQuestion, decidedOutcome, isOver, toWireState, type OpenQuestion, openQuestion } from './life.ts';
import type { RunState } from './state.ts';
import type { Story } from './story.ts';

export interface QuestionRequest {
  kind: QuestionKind;
  /** The step that the question is about; null for a question about a pass. */
  step: Step | null;
  text: string;
  fingerprint?: string | undefined;
  tried: string[];
  options: Decision[];
}
export interface QuestionOutcome {
  kind: AnswerKind;
  decision: Decision;
  text: string | null;
  by: string | null;
  /** What a person gave with `done`. */
  output?: Json;
  /** What a person gave with `approve`, checked by the schema of the tool. */
  input?: Json;
}

/**
 * Asks a person and waits durably, with a deadline. After the deadline the next person of the policy's chain gets the
 * same time, and then the policy's default decides. The run's time budget leaves this wait out.
 */
export async function askHuman(story: Story, asked: QuestionRequest): Promise<QuestionOutcome> {
  const { state, ports } = story;
  const { humans } = state.run.policy;
  const fallback = defaultDecision(humans.default, asked.options);
  // Steps of a guarded workflow run in parallel. Only one question is open at a time, so that each answer reaches its
  // own question; nothing is awaited between this check and opening the question.
  const isFree = (): boolean => openQuestion(state) === null || isOver(state);
  const longestMs = humans.deadline_ms * (1 + humans.chain.length);
  while (!isFree()) await ports.until(isFree, longestMs, 'waiting for the previous question');
  if (questionsLeft(state) === 0 && !isOver(state)) {
    ports.log({ event: 'question_not_asked', reason: 'max_questions', decision: fallback });
    return { kind: 'policy', decision: fallback, text: null, by: null };
  }
  if (isOver(state)) return { kind: 'timed_out', decision: fallback, text: null, by: null };

  const askedAt = ports.now();
  // The question says how much time the run has used.
  millisecondsLeft(state, askedAt);
  const question = openNewQuestion(state, asked, askedAt);
  keepAskedInput(story, question);
  publish(story);
  ports.log({ event: 'question_asked', question_id: question.question_id, options: question.options });
  notify(story, question, 0);
  await waitForAnswer(story, question);

  const { answer, question_id } = question;
  closeQuestion(state);
  state.ledger.human_wait_ms += ports.now() - askedAt;
  publish(story);
  if (answer === null) {
    ports.log({ event: 'question_timed_out', question_id, decision: fallback });
    return { kind: 'timed_out', decision: fallback, text: null, by: null };
  }
  ports.log({ event: 'question_answered', question_id, decision: answer.decision, by: answer.by });
  return { kind: answer.decision === 'deny' ? 'denied' : 'answered', ...answer };
}

/** Says why something is left as it is, and what the person wrote who left it so. */
export function describeLeaving(
  { kind, by, text }: QuestionOutcome,
  did: string,
  nobody: { timed_out: string; policy: string },
): string {
  if (kind === 'timed_out' || kind === 'policy') return nobody[kind];
  const person = by ?? 'A person';
  return text === null || text === '' ? `${person} ${did}.` : `${person} ${did} and wrote: "${text}"`;
}

/** Stores the whole input that the question shows a part of, so that a person can read all of it before the answer. */
function keepAskedInput({ state, outbox }: Story, question: OpenQuestion): void {
  const artifact = artifactOfQuestion(state, question);
  if (artifact === null) return;
  state.outbox.artifacts.push(artifact);
  outbox.startNext();
}

function openNewQuestion(state: RunState, asked: QuestionRequest, now: number): OpenQuestion {
  state.ledger.questions.asked += 1;
  countQuestion(state, asked.kind);
  const { step } = asked;
  const question: OpenQuestion = {
    ...defined({
      question_id: questionId(state.run.run_id, state.ledger.questions.asked),
      kind: asked.kind,
      text: asked.text,
      fingerprint: asked.fingerprint,
      step_id: step?.kind === 'tool' ? step.step_id : null,
      tool: step?.call.tool,
      tried: asked.tried.slice(-10),
      options: asked.options,
      asked_at: isoTime(now),
      deadline: isoTime(now + state.run.policy.humans.deadline_ms),
    }),
    escalation: 0,
    answer: null,
  };
  state.life = { is: 'waiting', question };
  return question;
}

async function waitForAnswer(story: Story, question: OpenQuestion): Promise<void> {
  const { state, ports } = story;
  const { chain, deadline_ms } = state.run.policy.humans;
  const isDone = (): boolean => openQuestion(state) !== question || question.answer !== null;
  for (let level = 0; level <= chain.length; level += 1) {
    if (level > 0) {
      question.deadline = isoTime(ports.now() + deadline_ms);
      question.escalation = level;
      publish(story);
      ports.log({ event: 'question_escalated', question_id: question.question_id, to: chain[level - 1] ?? '' });
      notify(story, question, level);
    }
    await waitAndWrite(story, isDone, `waiting for an answer to ${question.question_id}`);
    if (isDone()) return;
  }
}

/**
 * Waits until the condition holds or the deadline has passed. Feedback that arrives meanwhile is written at once, because
 * the run may wait for days.
 */
async function waitAndWrite({ state, ports, outbox }: Story, isDone: () => boolean, why: string): Promise<void> {
  const until = ports.now() + state.run.policy.humans.deadline_ms;
  for (;;) {
    const heard = state.people.feedback.length;
    const hasHeard = (): boolean =>
      state.people.feedback.length > heard && (state.outbox.feedback.length > 0 || state.outbox.unsaved.length > 0);
    const isWoken = (): boolean => isDone() || hasHeard();
    if (!(await ports.until(isWoken, Math.max(1, until - ports.now()), why)) || isDone()) return;
    outbox.startNext();
  }
}

/** Sends the notification while the run waits, so that a slow webhook does not delay the question. */
function notify({ state, ports }: Story, question: OpenQuestion, escalation: number): void {
  const { notify: urls, chain } = state.run.policy.humans;
  if (urls.length === 0) return;
  const { run_id, agent, goal } = state.run;
  const to = chain[escalation - 1] ?? null;
  ports.notify({ run_id, agent, goal, question: describeQuestion(state, question), escalation, to, urls });
}

/** Publishes the state of the run. `decided` is the decision about a pass when another pass follows. */
export function publish({ state, ports }: Story, decided?: Json): void {
  state.updated_at = ports.now();
  const question = openQuestion(state);
  const outcome = decidedOutcome(state);
  ports.publish({
    state: toWireState(state),
    ...defined({ outcome }),
    attempts: state.ledger.used.attempts,
    question: question === null ? null : describeQuestion(state, question),
    ...defined({ decided }),
  });
}
