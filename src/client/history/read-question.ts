import { defined, type Json } from '../../protocol/json.ts';
import {
  DECISIONS,
  type Decision,
  type PendingQuestion,
  QUESTION_KINDS,
  type QuestionBudget,
} from '../../protocol/questions.ts';
import type { AmountLimits, Amounts } from '../../protocol/run.ts';
import { asFields, asList, asText, asTexts, textOrNull } from './history-event.ts';

/**
 * Reads the question that a run has published, or returns null. A run of an older build published less, so everything that was
 * added later has a neutral value then.
 */
export function readQuestion(published: Json | undefined): PendingQuestion | null {
  const asked = asFields(published);
  const question_id = asText(asked['question_id']);
  if (question_id === '') return null;
  const { kind, step_id, input, input_chars } = asked;
  const optional = Object.fromEntries(
    ['fingerprint', 'tool', 'input_artifact_id', 'reason'].flatMap((name) => {
      const text = textOrNull(asked[name]);
      return text === null ? [] : [[name, text]];
    }),
  );
  const options = asTexts(asked['options']).filter(isDecision);
  const unanswered = asFields(asked['if_unanswered']);
  return {
    question_id,
    kind: QUESTION_KINDS.find((known) => known === kind) ?? 'failure',
    text: asText(asked['text']),
    ...optional,
    ...defined({ input, step_id: asWhole(step_id), input_chars: asWhole(input_chars) }),
    tried: asTexts(asked['tried']),
    budget: readBudget(asked['budget']),
    options,
    choices: asList(asked['choices']).flatMap((choice) => {
      const { option, does } = asFields(choice);
      return isDecision(option) ? [{ option, does: asText(does) }] : [];
    }),
    asked_at: asText(asked['asked_at']),
    deadline: asText(asked['deadline']),
    if_unanswered: {
      decision: isDecision(unanswered['decision']) ? unanswered['decision'] : 'stop',
      does: asText(unanswered['does']),
    },
  };
}

const asWhole = (value: Json | undefined): number | undefined =>
  typeof value === 'number' && Number.isSafeInteger(value) ? value : undefined;

const NAMES = ['steps', 'attempts', 'model_calls', 'tokens', 'cost_micro_usd', 'seconds'] as const;

function readBudget(value: Json | undefined): QuestionBudget {
  const { used, limit, cost_known } = asFields(value);
  const count = (amounts: Json | undefined, name: string): number | null => {
    const amount = asFields(amounts)[name];
    return typeof amount === 'number' ? amount : null;
  };
  return {
    used: Object.fromEntries(NAMES.map((name) => [name, count(used, name) ?? 0])) as unknown as Amounts,
    limit: Object.fromEntries(NAMES.map((name) => [name, count(limit, name)])) as unknown as AmountLimits,
    cost_known: cost_known === true,
  };
}

const isDecision = (value: Json | undefined): value is Decision => (DECISIONS as readonly unknown[]).includes(value);
