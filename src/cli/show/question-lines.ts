import { describeChanges } from '../../core/run/input-changes.ts';
import type { Json } from '../../protocol/json.ts';
import type { InputChange, PendingQuestion } from '../../protocol/questions.ts';
import { colours } from './colours.ts';
import { dollars, duration, minute, oneLine, safeLines, wrap } from './terminal-text.ts';

/** Everything that a person needs to answer a question, in lines of at most `width` columns. */
export function questionBlock(runId: string, question: PendingQuestion, width: number): string[] {
  const { text, tried, choices, deadline, if_unanswered: unanswered, options } = question;
  const row = (label: string, texts: readonly string[]): string[] => labelled(label, texts, width);
  return [
    ...wrap(oneLine(text), width).map((line) => colours.yellow(line)),
    '',
    ...row('question', [`${question.question_id} (${question.kind.replaceAll('_', ' ')})`]),
    ...row('tool', about(question)),
    ...row('input', inputTexts(question)),
    ...row('reason', question.reason === undefined ? [] : [question.reason]),
    ...row('tried', tried.length === 0 ? ['nothing before this question'] : tried),
    ...row('used', [formatUsed(question)]),
    ...row('until', [`${minute(deadline)} UTC`]),
    ...row('or else', [unanswered.does]),
    '',
    ...choices.flatMap(({ option, does }) => row(option, [does])),
    '',
    ...wrap(`Answer: secondwind answer ${runId} <${options.join('|')}>`, width),
    ...(options.includes('approve')
      ? wrap(`With another input: secondwind answer ${runId} approve --input <json>`, width)
      : []),
  ];
}

/** What a person changed in an input, one line for each value. */
export const changeLines = (changes: readonly InputChange[], width: number): string[] =>
  changes.flatMap((change) => wrap(oneLine(`changed ${describeChanges([change])}`), width));

const INDENT = 2;
const LABEL = 10;
const INPUT_LINES = 24;

function labelled(label: string, texts: readonly string[], width: number): string[] {
  const room = Math.max(20, width - INDENT - LABEL);
  const lines = texts.flatMap((text) =>
    safeLines(text)
      .split('\n')
      .flatMap((line) => wrap(line, room)),
  );
  return lines.map((line, index) =>
    `${' '.repeat(INDENT)}${(index === 0 ? label : '').padEnd(LABEL)}${line}`.trimEnd(),
  );
}

const about = ({ tool, step_id: step }: PendingQuestion): string[] =>
  tool === undefined ? [] : [step === undefined ? tool : `${tool}, step ${step}`];

function inputTexts({ input, input_artifact_id: id }: PendingQuestion): string[] {
  if (input === undefined) return [];
  const lines = formatInput(input).split('\n');
  const rest = lines.length - INPUT_LINES;
  const isWhole = rest <= 0 && typeof input !== 'string';
  return [
    lines.slice(0, INPUT_LINES).join('\n'),
    ...(rest > 0 ? [`… ${rest} more lines`] : []),
    ...(isWhole || id === undefined ? [] : [`whole: GET /v1/artifacts/${id}`]),
  ];
}

/** A preview that is a text is shown as it is: it may be the beginning of some JSON. */
const formatInput = (input: Json): string => (typeof input === 'string' ? input : JSON.stringify(input, null, 2));

function formatUsed({ budget: { used, limit, cost_known: isKnown } }: PendingQuestion): string {
  const of = (most: number | null, show: (amount: number) => string = String): string =>
    most === null ? '' : ` of ${show(most)}`;
  const cost = isKnown
    ? `${dollars(used.cost_micro_usd)}${of(limit.cost_micro_usd, dollars)}`
    : 'unknown cost (the model has no price)';
  return [
    cost,
    `${used.tokens}${of(limit.tokens)} tokens`,
    `${used.attempts}${of(limit.attempts)} attempts`,
    `${duration(used.seconds)}${of(limit.seconds, duration)}`,
  ].join(', ');
}
