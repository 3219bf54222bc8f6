import { normaliseMessage } from '../failures/normalise-message.ts';

/**
 * The words by which a text is found. Numbers, ids, times and paths are left out, because they differ each time, and so are words
 * that occur in every error. Word order does not matter.
 */

/** Enough for a message of several lines; later words would only make a search slower. */
const MAX_WORDS = 60;
/** With fewer telling words than this, the common ones count too, so that "not found" can be searched. */
const FEW_WORDS = 2;

const PLACEHOLDER = /<[a-z]{1,12}>/g;
/** A path of at least two parts. The address of a page is none: it begins with a host, which belongs to an error. */
const ROOTED_PATH = /(?<![\w:/\\.])(?:~|\.{1,2}|[A-Za-z]:)?(?:[/\\][^\s'"`(),;:=<>|[\]{}/\\]{1,200}){2,40}[/\\]?/g;
const RELATIVE_FILE = /(?<![\w:/\\@.-])[\w.-]{1,80}(?:[/\\][\w.-]{1,80}){1,20}\.[A-Za-z]{1,8}(?!\w)/g;
const APOSTROPHE = /(?<=\p{L})['’](?=\p{L})/gu;
const WORD = /[\p{L}\p{M}\p{N}_]+/gu;
/** Scripts that are written without spaces between words. */
const UNSPACED =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}]{2,}/gu;

const COMMON = new Set(
  (
    'a an the of to in on at by for from with without into onto and or but not no nor is are was were be been being has have had do does ' +
    'did done can could may might must should will would shall this that these those it its as if than then there here when while ' +
    'which who what where why how your you we our they their them any all some one only also very too so such more most other after ' +
    'before because due via per error err exception failed failure fail failing cannot cant couldnt unable please try again got get ' +
    'during caused cause reason message detail details occurred happened'
  ).split(' '),
);

/** Everything by which a text is found. */
export const readSearchedText = (text: string): { words: string[]; passing: string[] } => {
  const words = searchWords(text);
  return { words, passing: passingWords(text).filter((word) => !words.includes(word)) };
};

/** The words of a text that say what it is about, each once. */
export function searchWords(text: string): string[] {
  const words = allWords(text.replace(ROOTED_PATH, ' ').replace(RELATIVE_FILE, ' '));
  const telling = words.filter((word) => !COMMON.has(word));
  return (telling.length < FEW_WORDS ? words : telling).slice(0, MAX_WORDS);
}

/** Enough to tell one occurrence from another. */
const MAX_VALUES = 20;
const VALUE = /[\p{L}\p{N}][\p{L}\p{N}_-]{2,79}/gu;

/**
 * What differs each time: the last parts of paths, ids and numbers. A text that has the same ones is more likely the same; a text
 * that has others may still be. Values begin with `#`, so that they are no words.
 */
function passingWords(text: string): string[] {
  const paths = [...text.matchAll(ROOTED_PATH), ...text.matchAll(RELATIVE_FILE)].map(([path]) => path);
  const values = (text.normalize('NFKC').toLowerCase().match(VALUE) ?? []).filter((token) => /\p{N}/u.test(token));
  return [...new Set([...paths.flatMap(allWords), ...values.map((value) => `#${value}`)])].slice(0, MAX_VALUES);
}

function allWords(text: string): string[] {
  const plain = normaliseMessage(text).replace(PLACEHOLDER, ' ');
  return [...new Set(tokensOf(plain).flatMap(toWord))];
}

const tokensOf = (text: string): string[] =>
  text
    .normalize('NFKC')
    .replace(APOSTROPHE, '')
    .toLowerCase()
    .replace(UNSPACED, (run) => ` ${pairsOf(run).join(' ')} `)
    .match(WORD) ?? [];

/** Two characters at a time take the place of words. */
function pairsOf(run: string): string[] {
  const characters = Array.from(run);
  return characters.slice(1).map((character, index) => `${characters[index]}${character}`);
}

/** The word without its digits and its plural, or nothing for numbers, ids and single letters. */
function toWord(token: string): string[] {
  const digits = token.match(/\p{N}+/gu) ?? [];
  const letters = token.replace(/[\p{N}_]+/gu, '').length;
  // One group of digits is a version or a counter. Several are an id, such as 8xk2c1.
  if (letters === 0 || digits.length > 1 || (digits[0]?.length ?? 0) > letters + 2) return [];
  const word = singular(withoutOuterUnderscores(token.replace(/\p{N}+/gu, '0')));
  return word.length < 2 ? [] : [word];
}

/** A loop, because a regular expression for both ends takes quadratic time on a word of underscores. */
function withoutOuterUnderscores(word: string): string {
  let start = 0;
  let end = word.length;
  while (word[start] === '_') start += 1;
  while (end > start && word[end - 1] === '_') end -= 1;
  return word.slice(start, end);
}

const singular = (word: string): string => (/^.{3,}[^s]s$/.test(word) ? word.slice(0, -1) : word);

/** Names of tools, codes and agents as words. Their digits say what they are: `HTTP_503` is not `HTTP_404`. */
export const nameWords = (...names: (string | null | undefined)[]): string[] => [
  ...new Set(names.flatMap((name) => (name ?? '').toLowerCase().match(WORD) ?? [])),
];

/** One typed word, in each form in which a text may contain it. */
export type TypedWord = readonly string[];

/** The words that a person typed, for a search in which each may be only the beginning of a word. */
export function typedWords(text: string): TypedWord[] {
  const { words, passing } = readSearchedText(text);
  const telling = new Set([...words, ...passing]);
  const typed = tokensOf(normaliseMessage(text).replace(PLACEHOLDER, ' '))
    .map((token) => [...new Set([...toWord(token), withoutOuterUnderscores(token)])])
    .filter((forms) => forms.some((form) => telling.has(form)));
  // Without words, an id or a number is what was asked for.
  return (typed.length === 0 ? passing.map((value) => [value]) : distinct(typed)).slice(0, MAX_WORDS);
}

const distinct = (typed: readonly TypedWord[]): TypedWord[] => [
  ...new Map(typed.map((forms) => [forms.join(' '), forms])).values(),
];
