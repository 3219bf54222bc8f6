import { cleanName } from '../failures/clean-text.ts';
import { defined } from '../../protocol/json.ts';
import { quote } from '../failures/quote.ts';
import type { ActionDifference } from './compare-behaviour.ts';
import type { ChangedArgument, PlainValue } from '../../protocol/lessons.ts';

/**
 * The text of a lesson that a run learns by itself. It is made only of names, codes and plain values. Text from tools,
 * servers and models is left out, so that no instruction hidden in it can reach a later run.
 */
export type PlainArgs = Record<string, PlainValue>;

const NAME_CHARS = 40;
const CODE_CHARS = 30;
const VALUE_CHARS = 24;
const REPORTED_CHARS = 120;
const TOLD_ARGUMENTS = 3;
const KEPT_ARGUMENTS = 10;
/** A value that may be shown: one word of letters, as in settings. Names, ids and secrets contain digits or spaces. */
const PLAIN_VALUE = /^[A-Za-z][A-Za-z_-]{0,23}$/;
/** Arguments that may hold personal or secret values. A lesson only says that they changed. */
const PRIVATE_NAME =
  /pass|pin|secret|token|key|auth|cred|cookie|session|mail|phone|name|user|customer|client|account|person|owner|address|(?:^|[_-])ids?$|Ids?$/i;

/**
 * Describes a failure in the words with which a lesson about it begins. Similar lessons are searched with the same
 * text.
 */
export const describeFailure = (toolName: string | null, errorCode: string): string =>
  `If ${cleanName(toolName ?? 'the plan', NAME_CHARS)} fails with ${cleanName(errorCode, CODE_CHARS)}`;

/** Picks the arguments of a call whose values may be shown. */
export function pickPlainArgs(input: unknown): PlainArgs {
  if (typeof input !== 'object' || input === null || Array.isArray(input)) return {};
  const plain = Object.entries(input).filter((entry): entry is [string, PlainValue] => {
    const [name, value] = entry;
    if (PRIVATE_NAME.test(name)) return false;
    if (typeof value === 'string') return PLAIN_VALUE.test(value);
    return value === null || typeof value === 'boolean' || (typeof value === 'number' && Number.isFinite(value));
  });
  return Object.fromEntries(plain.slice(0, KEPT_ARGUMENTS));
}

/** Lists the arguments that have another value after a change. */
export function changedArguments(before: PlainArgs, after: PlainArgs): ChangedArgument[] {
  return Object.keys(after)
    .filter((name) => before[name] !== after[name])
    .sort()
    .map((name) => ({ name, value: after[name] ?? null, ...defined({ before: before[name] }) }));
}

export interface Remedy {
  differences: readonly ActionDifference[];
  tool_name: string;
  /** The changed arguments whose values may be told. */
  arguments: readonly ChangedArgument[];
  constraints: { max_output_bytes?: number; timeout_ms?: number; page_size?: number };
  /** What the tool reported, without data of the run. */
  reported: string | null;
}

/** Builds the text of a lesson: the failure, and what was different when it worked. Null if there is nothing to tell. */
export function buildLessonText(failure: string, remedy: Remedy): string | null {
  const told = describeRemedy(remedy);
  return told.length === 0 ? null : `${failure}, then what worked was ${told.join(', ')}.`;
}

function describeRemedy(remedy: Remedy): string[] {
  const { differences, constraints } = remedy;
  const told: string[] = [];
  if (differences.includes('tool')) told.push(`${cleanName(remedy.tool_name, NAME_CHARS)} instead`);
  if (differences.includes('arguments') && !differences.includes('tool') && remedy.arguments.length > 0) {
    told.push(remedy.arguments.slice(0, TOLD_ARGUMENTS).map(describeArgument).join(' and '));
  }
  if (differences.includes('constraints')) {
    if (constraints.max_output_bytes !== undefined)
      told.push(`its output cut to ${constraints.max_output_bytes} bytes`);
    if (constraints.timeout_ms !== undefined) told.push(`a time limit of ${constraints.timeout_ms} ms`);
    if (constraints.page_size !== undefined) told.push(`pages of ${constraints.page_size}`);
  }
  if (differences.includes('prompt')) told.push('a prompt that names what was missed');
  if (differences.includes('reported') && remedy.reported !== null) told.push(reportedWords(remedy.reported));
  return told;
}

function describeArgument({ name, value, before }: ChangedArgument): string {
  const told = `${cleanName(name, VALUE_CHARS)} ${String(value)}`;
  return before === undefined ? told : `${told} instead of ${String(before)}`;
}

/** A tool wrote the text of `ctx.changed`, so it is quoted. */
const reportedWords = (text: string): string => `what the tool reported as ${quote(text, REPORTED_CHARS)}`;

const LEARNT_FORM = /^If [A-Za-z0-9._-]{1,40} fails with [A-Za-z0-9._-]{1,30}, then what worked was [^\n]{1,1000}\.$/;
/** Whether a text has the form that `buildLessonText` gives it. */
export const isLearntText = (text: string): boolean => LEARNT_FORM.test(text);
