import { isRecord, type Json, findTooDeepPath } from './json.ts';
import { CAP } from './caps.ts';
import { suggestName } from './nearest-name.ts';
import { DECISIONS } from './questions.ts';
import type { RequestProblem } from './run.ts';

/**
 * The messages that people send to a run or a guard. The same bodies travel as signals, updates and HTTP requests.
 * Every receiver calls `parseMessage`, the only function that checks a body; after that a message travels parsed. The
 * OpenAPI document is made from the same fields.
 */
interface Field {
  optional: boolean;
  /** For the OpenAPI document. */
  sentence: string;
}
export interface FlagField extends Field {
  type: 'flag';
}
export interface TextField extends Field {
  type: 'text';
  mayBeBlank: boolean;
  maxChars: number;
}
export interface ChoiceField extends Field {
  type: 'choice';
  choices: readonly string[];
}
export interface JsonField extends Field {
  type: 'json';
  maxChars: number;
}
export type MessageField = FlagField | TextField | ChoiceField | JsonField;

const flag = (sentence: string) => ({ type: 'flag', optional: true, sentence }) as const;
const text = (sentence: string) =>
  ({ type: 'text', optional: false, mayBeBlank: false, maxChars: CAP.textChars, sentence }) as const;
const optionalText = (sentence: string) => ({ ...text(sentence), optional: true, mayBeBlank: true }) as const;
/** Names are shown in decisions, guidance and audits, so they are capped. */
const name = (sentence: string) => ({ ...text(sentence), maxChars: CAP.nameChars }) as const;

export const MESSAGE_FIELDS = {
  override: {
    override_fatigue: flag('Let one more pass start where fatigue would end the run.'),
    override_max_reruns: flag('Let one more pass start where the limit of passes would end the run.'),
    override_by: name('Who overrides, for the audit.'),
    override_reason: optionalText('Why, for the audit.'),
  },
  answer: {
    question_id: text('The question, as `pending_question` of the status names it.'),
    decision: {
      type: 'choice',
      optional: false,
      choices: DECISIONS,
      sentence: 'One of the options of the question.',
    },
    text: optionalText('What to do instead; required with the decision `correct`. With any other decision, a note.'),
    output: {
      type: 'json',
      optional: true,
      maxChars: CAP.answerOutputChars,
      sentence: 'With the decision `done`: what the call gave. It has to fit the output schema of the tool.',
    },
    input: {
      type: 'json',
      optional: true,
      maxChars: CAP.chosenInputBytes,
      sentence:
        'With the decision `approve`: the whole input to run the call with instead. It has to fit the input schema of the tool.',
    },
    by: name('Who answers, for the audit.'),
  },
  feedback: {
    text: text('What the person thinks of the run.'),
    by: name('Who says so, for the audit.'),
  },
  supersede: {
    fingerprint: { ...text('The failure, as the failures of the run name it.'), maxChars: 200 },
    by: name('Who says so, for the audit.'),
    reason: optionalText('Why, for the audit.'),
  },
  cancel_run: {
    by: name('Who asks for it, for the audit.'),
    reason: optionalText('Why, for the audit.'),
  },
} as const satisfies Record<string, Record<string, MessageField>>;

/** The fields of an override that a reported loop can carry; they apply to the decision about that loop alone. */
export const OVERRIDE_FIELDS_OF_REPORT = {
  override_fatigue: MESSAGE_FIELDS.override.override_fatigue,
  override_max_reruns: MESSAGE_FIELDS.override.override_max_reruns,
  override_by: { ...MESSAGE_FIELDS.override.override_by, optional: true },
  override_reason: MESSAGE_FIELDS.override.override_reason,
} as const satisfies Record<string, MessageField>;

export type MessageType = keyof typeof MESSAGE_FIELDS;
type FieldsOf<Type extends MessageType> = (typeof MESSAGE_FIELDS)[Type];
type ValueOf<Given> = Given extends { type: 'flag' }
  ? boolean
  : Given extends { choices: readonly (infer Choice)[] }
    ? Choice
    : Given extends { type: 'json' }
      ? Json
      : string;
type OptionalNames<Fields> = {
  [Name in keyof Fields]: Fields[Name] extends { optional: true } ? Name : never;
}[keyof Fields];
type Flat<Value> = { [Key in keyof Value]: Value[Key] };

/** A message without its type, as it travels. */
export type MessageBody<Type extends MessageType> = Flat<
  { [Name in Exclude<keyof FieldsOf<Type>, OptionalNames<FieldsOf<Type>>>]: ValueOf<FieldsOf<Type>[Name]> } & {
    [Name in OptionalNames<FieldsOf<Type>>]?: ValueOf<FieldsOf<Type>[Name]>;
  }
>;
/** A message of this type that `parseMessage` has accepted. */
export type MessageOf<Type extends MessageType> = Type extends MessageType
  ? Flat<{ type: Type } & MessageBody<Type>>
  : never;
export type OverrideMessage = MessageOf<'override'>;
export type AnswerMessage = MessageOf<'answer'>;
export type FeedbackMessage = MessageOf<'feedback'>;
export type SupersedeMessage = MessageOf<'supersede'>;
export type CancelMessage = MessageOf<'cancel_run'>;
export type RunMessage = OverrideMessage | AnswerMessage | FeedbackMessage | SupersedeMessage | CancelMessage;

export type ParsedMessage<Message = RunMessage> =
  | { ok: true; message: Message }
  | { ok: false; problems: RequestProblem[] };

/**
 * Reads a body as a message of this type. An optional text that is null counts as left out. It knows nothing of the state of
 * a run: whether the run can take the message now is decided by the run.
 *
 * @returns the message, or every problem with its JSON path
 */
export function parseMessage<Type extends MessageType>(type: Type, body: unknown): ParsedMessage<MessageOf<Type>>;
export function parseMessage(type: MessageType, body: unknown): ParsedMessage {
  // Temporal passes bytes if it cannot decode a payload.
  if (!isRecord(body) || ArrayBuffer.isView(body)) return refused([{ path: '$', message: 'expected a JSON object' }]);
  const fields: Record<string, MessageField> = MESSAGE_FIELDS[type];
  const known = Object.keys(fields);
  const unknown = Object.keys(body).filter((key) => !known.includes(key));
  const problems = [
    ...unknown.map((key) => ({ path: `$.${key}`, message: `unknown field${suggestName(key, known)}` })),
    ...checkFields(fields, body),
  ];
  if (problems.length > 0) return refused(problems);
  const given = known.filter((key) => Object.hasOwn(body, key) && body[key] !== undefined && body[key] !== null);
  const message = { type, ...Object.fromEntries(given.map((key) => [key, body[key]])) } as RunMessage;
  const together = checkTogether(message);
  return together.length > 0 ? refused(together) : { ok: true, message };
}

/** Checks each of these fields of a body by itself and returns the problems. */
export function checkFields(
  fields: Readonly<Record<string, MessageField>>,
  body: Record<string, unknown>,
): RequestProblem[] {
  return Object.entries(fields).flatMap(([key, field]) => {
    const message = checkField(field, Object.hasOwn(body, key) ? body[key] : undefined);
    return message === null ? [] : [{ path: `$.${key}`, message }];
  });
}

function checkField(field: MessageField, value: unknown): string | null {
  if (value === undefined || (value === null && (field.type === 'text' || field.type === 'json')))
    return field.optional ? null : 'required';
  switch (field.type) {
    case 'flag':
      return typeof value === 'boolean' ? null : 'expected true or false';
    case 'choice':
      return field.choices.includes(value as string) ? null : `expected one of ${field.choices.join(', ')}`;
    case 'json':
      return problemOfJson(value, field.maxChars);
    case 'text':
      if (typeof value !== 'string') return 'expected a text';
      if (!field.mayBeBlank && value.trim() === '') return 'expected a text that is not empty';
      return value.length > field.maxChars ? `expected at most ${field.maxChars} characters` : null;
  }
}

function lengthAsJson(value: unknown): number | null {
  try {
    const text = JSON.stringify(value) as string | undefined;
    return text?.length ?? null;
  } catch {
    return null;
  }
}

function problemOfJson(value: unknown, maxChars: number): string | null {
  if (findTooDeepPath(value) !== null) return `nested deeper than ${CAP.jsonLevels} levels`;
  const chars = lengthAsJson(value);
  if (chars === null) return 'expected a JSON value';
  return chars > maxChars ? `expected at most ${maxChars} characters of JSON` : null;
}

/** Checks rules that concern several fields together. */
function checkTogether(message: RunMessage): RequestProblem[] {
  switch (message.type) {
    case 'override':
      return message.override_fatigue || message.override_max_reruns
        ? []
        : [{ path: '$', message: 'set override_fatigue or override_max_reruns to true' }];
    case 'answer':
      return [
        ...(message.decision === 'correct' && !message.text
          ? [{ path: '$.text', message: 'required with the decision correct' }]
          : []),
        ...(message.decision !== 'done' && message.output !== undefined
          ? [{ path: '$.output', message: 'only with the decision done' }]
          : []),
        ...(message.decision !== 'approve' && message.input !== undefined
          ? [{ path: '$.input', message: 'only with the decision approve' }]
          : []),
      ];
    case 'feedback':
    case 'supersede':
    case 'cancel_run':
      return [];
  }
}

const refused = (problems: RequestProblem[]): { ok: false; problems: RequestProblem[] } => ({ ok: false, problems });
