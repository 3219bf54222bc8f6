import type { Decision, QuestionChoice } from '../../protocol/questions.ts';
import { PLANNER } from '../../protocol/names.ts';
import type { OpenQuestion } from './life.ts';
import type { RunState } from './state.ts';

/** Says in one sentence what each option of a question does. */
export const explainOptions = (state: RunState, question: OpenQuestion): QuestionChoice[] =>
  question.options.map((option) => ({ option, does: explainOption(state, question, option) }));

/** The decision of the policy if nobody answers. It must be one of the question's options; if it is not, `deny` or `stop` is used. */
export const defaultDecision = (wanted: Decision, options: readonly Decision[]): Decision =>
  options.includes(wanted) ? wanted : options.includes('deny') && wanted !== 'stop' ? 'deny' : 'stop';

/** Says what happens after the deadline: who is asked next, and what the policy decides if nobody answers at all. */
export function explainNoAnswer(state: RunState, question: OpenQuestion): { decision: Decision; does: string } {
  const { chain, default: wanted } = state.run.policy.humans;
  const decision = defaultDecision(wanted, question.options);
  const next = chain.slice(question.escalation);
  const asked =
    next.length === 0
      ? ''
      : `${next.join(', then ')} ${next.length === 1 ? 'is' : 'are'} asked next, with the same time to answer. `;
  const policy = next.length === 0 ? 'The policy decides' : 'If nobody answers, the policy decides';
  return { decision, does: `${asked}${policy} ${decision}: ${lowerFirst(explainOption(state, question, decision))}` };
}

function explainOption(state: RunState, question: OpenQuestion, option: Decision): string {
  switch (option) {
    case 'approve':
      return 'The call runs with this input, or with the `input` that the answer brings.';
    case 'deny':
      return `The call does not run, ${isToldOnly(state) ? 'the planner is told so, ' : ''}and the run continues.`;
    case 'done':
      return question.kind === 'unknown_effect'
        ? 'The call counts as done and does not run again; the answer may bring its `output`.'
        : 'The call counts as done, with the `output` that the answer brings, or without one.';
    case 'not_done':
      return 'The call counts as not done and runs again with the same input.';
    case 'retry':
      return explainRetry(question);
    case 'correct':
      return explainCorrect(state, question);
    case 'skip':
      return explainSkip(question);
    case 'stop':
      return explainStop(question);
  }
}

/** A planner that chooses is told what a person decided about its call; a given plan has nobody to tell. */
const isToldOnly = ({ run }: RunState): boolean => run.planner === 'chooses';

function explainRetry({ kind, tool }: OpenQuestion): string {
  if (kind === 'pass') return 'One more pass starts, with what the review of this one missed.';
  if (kind === 'stuck') {
    return tool === PLANNER ? 'The agent continues once more.' : 'The call runs this time, with the same input.';
  }
  return tool === PLANNER ? 'The planner is asked once more.' : 'The call runs once more with the same input.';
}

function explainCorrect(state: RunState, { kind }: OpenQuestion): string {
  if (kind === 'pass') return 'One more pass starts, and the text of the answer is the first thing that it is told.';
  return isToldOnly(state)
    ? 'The text of the answer goes to the planner, which chooses what to do instead.'
    : 'The call runs once more and is shown the text of the answer first.';
}

function explainSkip({ kind }: OpenQuestion): string {
  if (kind === 'unknown_effect') {
    return 'It stays unknown whether the call took effect. The same call does not run again, and the run continues.';
  }
  return kind === 'unusable_output'
    ? 'The call counts as done without an output, and the run continues.'
    : 'The step is left out, and the run continues.';
}

function explainStop({ kind }: OpenQuestion): string {
  if (kind === 'pass') return 'The run ends with its best result so far.';
  return kind === 'unknown_effect'
    ? 'The run ends with its results so far. It stays unknown whether the call took effect.'
    : 'The run ends with its results so far.';
}

const lowerFirst = (text: string): string => text.charAt(0).toLowerCase() + text.slice(1);
