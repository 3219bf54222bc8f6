import { CAP } from '../../protocol/caps.ts';
import { defined } from '../../protocol/json.ts';
import type { PendingQuestion } from '../../protocol/questions.ts';
import { previewJson, previewText } from './preview.ts';
import { type Redact, redactJson } from './redact.ts';

/**
 * Returns a question as people may see it: input and reason are redacted and then cut. The run itself cannot do that, because it
 * does not know which values are secrets.
 */
export function previewQuestion<Question extends PendingQuestion>(question: Question, redact: Redact): Question {
  const { reason } = question;
  return {
    ...question,
    ...previewInput(question, redact),
    ...defined({ reason: reason === undefined ? undefined : cutReason(redact(reason)) }),
  };
}

function previewInput(
  { input, input_chars: chars }: PendingQuestion,
  redact: Redact,
): Pick<PendingQuestion, 'input' | 'input_chars'> {
  if (input === undefined) return {};
  // The run has already cut it: it is the beginning of its JSON.
  if (chars !== undefined && typeof input === 'string') return { input: previewText(input, chars, redact) };
  const clean = redactJson(input, redact);
  const shown = previewJson(clean, redact);
  return shown === clean ? { input: shown } : { input: shown, input_chars: JSON.stringify(clean).length };
}

const cutReason = (text: string): string =>
  text.length <= CAP.previewChars ? text : `${text.slice(0, CAP.previewChars)}…`;
