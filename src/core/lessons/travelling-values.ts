import { defined } from '../../protocol/json.ts';
import type { ChangedArgument, PlainValue } from '../../protocol/lessons.ts';

/** What decides whether a value is a rule that holds for other runs, or the data of one run. */
export interface ValueEvidence {
  /** The message of the failure. */
  error_text: string;
  /** The values that the tool's schema states, by argument: limits, defaults and choices. */
  stated: Readonly<Record<string, readonly PlainValue[]>>;
  /** Goal, input and earlier outputs of the run, as texts. A value that occurs in one of them is the run's own. */
  own_texts: readonly string[];
}

/** A changed argument whose value may travel, and its earlier value if that may travel too. */
export interface ToldArgument extends ChangedArgument {
  because: 'error' | 'schema';
}

export interface SortedArguments {
  /** Other runs may see these values. */
  told: ToldArgument[];
  /** Nothing explains these values yet. They travel once enough different runs agree on them. */
  unexplained: ChangedArgument[];
}

/**
 * Separates rules from data. A value travels if the error names it as a limit or a choice, or if the schema states it and
 * excludes the value before it. A value of the run's own goal, input or earlier outputs never travels.
 */
export function sortArguments(changed: readonly ChangedArgument[], evidence: ValueEvidence): SortedArguments {
  const sorted: SortedArguments = { told: [], unexplained: [] };
  for (const { name, value, before } of changed) {
    if (isOwn(value, evidence)) continue;
    const because = reasonToTell({ name, value, ...defined({ before }) }, evidence);
    if (because === null) {
      sorted.unexplained.push({ name, value });
      continue;
    }
    const tellsBefore =
      before !== undefined && !isOwn(before, evidence) && mentions(evidence.error_text, String(before));
    sorted.told.push({ name, value, because, ...(tellsBefore && { before }) });
  }
  return sorted;
}

const isOwn = (value: PlainValue, { own_texts }: ValueEvidence): boolean =>
  own_texts.some((text) => mentions(text, String(value)));

function reasonToTell(
  { name, value, before }: ChangedArgument,
  { error_text, stated }: ValueEvidence,
): ToldArgument['because'] | null {
  if (isNamedByError(error_text, value)) return 'error';
  const known = stated[name] ?? [];
  // If the schema allows both values, it does not say why one of them worked.
  return known.includes(value) && (before === undefined || !known.includes(before)) ? 'schema' : null;
}

/** Words with which an error states a limit or a choice. Without one of them, a value is only what the error is about. */
const STATES_A_RULE =
  /(?<![a-z])(?:over|above|below|under|exceed(?:s|ed|ing)?|beyond|max(?:imum)?|min(?:imum)?|limit(?:ed)?|at (?:most|least)|up to|no more than|more than|less than|fewer than|greater than|larger than|longer than|smaller than|between|must|should|has to|have to|need(?:s|ed)?|require[sd]?|expect(?:s|ed)?|allow(?:s|ed)?|support(?:s|ed)?|accept(?:s|ed)?|valid|one of|either|instead|only|use|too (?:large|small|many|few|long|short|big|high|low))(?![a-z])|[<>≤≥]/i;

/** A number has to stand beside a rule. A word must also follow the rule, because words like "ok" occur in any text. */
function isNamedByError(text: string, value: PlainValue): boolean {
  const rule = STATES_A_RULE.exec(text);
  if (rule === null) return false;
  return mentions(typeof value === 'number' ? text : text.slice(rule.index), String(value));
}

const PART_OF_A_VALUE = /[\p{L}\p{N}_]/u;
/** A number goes on after one of these if a digit follows: 100 is not in 100.5. */
const JOINS_DIGITS = /[.,_]/;

/** Whether a text contains a value as a whole word or number, in any case. A thousands separator is part of a number. */
export function mentions(text: string, value: string): boolean {
  if (value === '') return false;
  const searched = value.toLowerCase();
  const texts = /^\d{4,}$/.test(value) ? [text, text.replace(/(?<=\d)[,_ '](?=\d{3}(?!\d))/g, '')] : [text];
  return texts.some((one) => containsWhole(one.toLowerCase(), searched));
}

function containsWhole(text: string, value: string): boolean {
  for (let at = text.indexOf(value); at !== -1; at = text.indexOf(value, at + 1)) {
    const end = at + value.length;
    const before = text.charAt(at - 1);
    const after = text.charAt(end);
    if (PART_OF_A_VALUE.test(before) || PART_OF_A_VALUE.test(after)) continue;
    if (JOINS_DIGITS.test(before) && /\d/.test(text.charAt(at - 2)) && /^\d/.test(value)) continue;
    if (JOINS_DIGITS.test(after) && /\d/.test(text.charAt(end + 1)) && /\d$/.test(value)) continue;
    return true;
  }
  return false;
}

const HIDDEN = '…';
const WORD = /[\p{L}\p{N}_]+(?:[.@-][\p{L}\p{N}_]+)*/gu;
/** A shorter word of a goal or an input says nothing about the run, such as "the" or "get". */
const TELLING_CHARS = 5;

/**
 * Hides data of the run in what a tool reports: numbers, ids and names that occur in the run's texts. The author of a tool
 * chose the other words, as those of its errors and its schema.
 */
export const hideData = (text: string, ownTexts: readonly string[]): string =>
  text.replace(WORD, (word) =>
    (/\d/.test(word) || isName(word)) && ownTexts.some((own) => mentions(own, word)) ? HIDDEN : word,
  );

/** Names are written with a capital letter, or contain one of the signs of an address. */
const isName = (word: string): boolean => word.length >= TELLING_CHARS && /[\p{Lu}@_]/u.test(word);

/** Whether a text still says something after its data was hidden. */
export const saysSomething = (text: string): boolean => /\p{L}{3}/u.test(text.replaceAll(HIDDEN, ''));
