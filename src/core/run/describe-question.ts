import { CAP } from '../../protocol/caps.ts';
import { canonicalJson, sha256Hex } from '../../protocol/ids.ts';
import { defined, type Json } from '../../protocol/json.ts';
import { PLANNER } from '../../protocol/names.ts';
import type { PendingQuestion, QuestionBudget } from '../../protocol/questions.ts';
import type { TextArtifact } from '../../protocol/records.ts';
import { toWellFormed } from '../../protocol/well-formed-text.ts';
import type { Step } from './attempts.ts';
import { explainNoAnswer, explainOptions } from './explain-options.ts';
import { limitsOf } from './ledger.ts';
import type { OpenQuestion } from './life.ts';
import { isLiteral, resolvePointers } from './pointers.ts';
import type { RunState } from './state.ts';

/**
 * Describes an open question for people. It is computed from the step, the conversation and the ledger, so the state keeps
 * nothing twice. Input and reason are as the run has them: whoever shows the question makes previews of them
 * (`previewQuestion`), because only workers and the API know which values are secrets.
 */
export function describeQuestion(state: RunState, question: OpenQuestion): PendingQuestion {
  const { question_id, kind, text, fingerprint, tool, tried, options, asked_at, deadline } = question;
  const step = stepOf(state, question);
  return defined({
    question_id,
    kind,
    text,
    fingerprint,
    step_id: step?.step_id,
    tool,
    ...(step === undefined ? {} : describeInput(state, step)),
    reason: reasonFor(state, question, step),
    tried,
    budget: budgetOf(state),
    options,
    choices: explainOptions(state, question),
    asked_at,
    deadline,
    if_unanswered: explainNoAnswer(state, question),
  });
}

/** The step that the question is about, if it is a call of a tool. */
export const stepOf = ({ loop }: RunState, { step_id }: OpenQuestion): Step | undefined =>
  step_id === null ? undefined : loop.batch.find((step) => step.kind === 'tool' && step.step_id === step_id);

/** The input as the tool gets it: with pointers replaced by what they point to, as far as the run holds it. */
export function inputOf(state: RunState, { call }: Step): Json {
  if (isLiteral(state, call)) return call.input;
  const resolved = resolvePointers(state, call.input);
  return resolved.ok ? resolved.input : call.input;
}

function describeInput(
  state: RunState,
  step: Step,
): Pick<PendingQuestion, 'input' | 'input_chars' | 'input_artifact_id'> {
  const input = inputOf(state, step);
  const text = JSON.stringify(input);
  const artifact = askedInput(state, step);
  return {
    ...(text.length <= CAP.askedInputChars
      ? { input }
      : { input: toWellFormed(text.slice(0, CAP.askedInputChars)), input_chars: text.length }),
    ...defined({ input_artifact_id: artifact?.id }),
  };
}

/** The whole input of the step as an artifact, or null if this run does not store it. */
export function askedInput(state: RunState, step: Step): TextArtifact | null {
  if (state.run.keeps_asked_inputs !== true) return null;
  const text = canonicalJson(inputOf(state, step));
  return text.length > CAP.runInputBytes ? null : { id: sha256Hex(text), text };
}

/** The artifact that a question refers to, to be stored when the question is asked. */
export function artifactOfQuestion(state: RunState, question: OpenQuestion): TextArtifact | null {
  const step = stepOf(state, question);
  return step === undefined ? null : askedInput(state, step);
}

/** The planner's text belongs to the calls of its latest turn, and to a question about the text itself. */
function reasonFor({ loop }: RunState, { kind, tool }: OpenQuestion, step: Step | undefined): string | undefined {
  const isOwn =
    step !== undefined
      ? step.call.plan_index === null && step.call.turn === loop.turn
      : kind === 'stuck' && tool === PLANNER;
  return isOwn ? loop.said : undefined;
}

function budgetOf({ run, ledger }: RunState): QuestionBudget {
  const { used } = ledger;
  const cost_known = used.model_calls === 0 || used.cost_micro_usd > 0 || run.bound.cost_micro_usd !== null;
  return { used: { ...used }, limit: limitsOf(run), cost_known };
}
