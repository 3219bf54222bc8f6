import { salientLine } from '../failures/salient-line.ts';

/** Only the beginning of an answer is read. Whether two whole answers are equal is decided by their hash. */
const SCANNED_CHARS = 1000;
/** A longer answer that mentions an error is rather a log or a file that contains the word. */
const SHORT_CHARS = 400;
/** An error may end with what matters, as in a Python traceback. */
const ERROR_CHARS = 8000;
const MASKED_CHARS = 300;

// oxlint-disable-next-line no-control-regex -- terminals colour the same answer in one run and not in another.
const COLOURS = /\u001B\[[0-9;]{0,20}[A-Za-z]/g;
const ADDRESS = /[a-z][a-z0-9+.-]{1,20}:\/\/[^\s"'<>)\]]{1,500}/gi;
const QUOTED = /"[^"\n]{0,300}"|'[^'\n]{0,300}'|`[^`'\n]{0,300}[`']|\[[^[\]\n]{0,300}\]|“[^”\n]{0,300}”/g;
const BRACES = /\{[^{}\n]{0,300}\}/g;
const PATH = /[\w.~$*-]{0,100}(?:[/\\][\w.~$*-]{0,100}){1,40}/g;
const FILE = /(?<![\w.])[\w$-]{1,100}\.[A-Za-z]\w{0,9}(?![\w.])/g;
const HEX = /(?<![a-z0-9])(?=[a-f]{0,30}\d)[0-9a-f]{7,64}(?![a-z0-9])/gi;
const DIGITS = /\d{1,30}(?:[.,:]\d{1,30}){0,10}/g;
const MISSING_COMMAND = /(^|[\s:])[^\s:]{1,100}: (?:command )?not found/g;

/**
 * Returns the beginning of a text without what differs between two answers that say the same: digits, paths, names of
 * files, addresses and quoted words.
 */
export const maskText = (text: string): string =>
  text
    .slice(0, SCANNED_CHARS)
    .replace(COLOURS, '')
    .replace(ADDRESS, '<address>')
    .replace(QUOTED, '<quoted>')
    .replace(BRACES, '<quoted>')
    .replace(BRACES, '<quoted>')
    .replace(PATH, '<path>')
    .replace(MISSING_COMMAND, '$1<name>: command not found')
    .replace(FILE, '<file>')
    .replace(HEX, '<hex>')
    .replace(DIGITS, '0')
    .replace(/\s{1,200}/g, ' ')
    .trim()
    .toLowerCase()
    .slice(0, MASKED_CHARS);

/** A line that some agents put before every answer of a tool, whatever it says. */
const PREAMBLE =
  /^\s{0,20}(?:exit ?code:? ?\d{1,3}[^\n]{0,40}|execution logs:|std(?:out|err):|(?:api )?output:)\s{0,20}/i;
const LABEL = /^\W{0,5}(?:\w{1,30} ){0,2}(?:outputs?|results?|observation): ?/i;
/** What an error line starts with, after the name of the program and the place. */
const FAILURE_START =
  /^\W{0,5}(?:[\w./-]{1,80}: ){0,4}(?:line \d{1,9}: )?(?:\w{0,60}(?:error|exception|failure)\b|errno\b|fatal\b|failed\b|usage: |traceback|exit ?code:? [1-9]|command failed|invalid |unknown (?:command|option|column|table)|unrecogni[sz]ed|unexpected |cannot |can't |could not |couldn't |unable to |permission denied|access denied|no such |missing |too many arguments|syntax error|denied\b|not allowed|timed? ?out\b|bad )/i;
const FAILURE_WITHIN =
  /command not found|no such file or directory|permission denied|syntax error|too many arguments|missing argument|encountered an error|an error occurred|is not recognized as/i;
const NOTHING_FOUND =
  /\bno (?:exact )?(?:match(?:es)?|results?|files?|items?|records?|rows?|entries|data|such|hits|documents?)\b|\b(?:0|zero) (?:match(?:es)?|results?|files?|rows?|hits|records?|items?)\b|\bnot found\b|\bdoes(?: not|n't) exist\b|\bcould(?: not|n't) find\b|\bcannot find\b|\bnothing (?:found|matched|to show)\b|\bdid not match\b|\bno \w{1,20} \w{1,20} (?:was|were) found\b|\bfound (?:0|no)\b/i;
const SAYS_NOTHING =
  /^\s{0,50}(?:\[\s{0,20}\]|\{\s{0,20}\}|\(\s{0,20}\)|null|none|undefined|""|''|-|0|false|\[?no output\]?|\(no output\)|n\/a)?\s{0,50}$/i;
/** A person refused the call. What the agent does next answers the person, so counting starts again. */
const REFUSED =
  /\buser (?:doesn't|does not|did not|didn't) want to\b|\binterrupted by (?:the )?user\b|\b(?:rejected|denied|declined|cancelled) by (?:the )?(?:user|human|person)\b|\brequires approval\b|\bhaven't granted\b/i;
/** The call did not run, because another call of the same batch failed. */
const SIBLING_FAILED = /sibling tool call errored/i;

/**
 * How a call was answered: `failed` with an error, `negative` (it found nothing), `empty` (it said nothing), `refused`
 * by a person, `skipped` because another call failed, or `ok`.
 */
export type ResultKind = 'ok' | 'empty' | 'negative' | 'failed' | 'refused' | 'skipped';

const firstLine = (text: string): string => text.split('\n', 40).find((line) => /[\p{L}\p{N}]/u.test(line)) ?? '';

/**
 * Judges an answer by its text. `error` is what the agent's own record says, if it says anything: an answer that the
 * record calls an error is one, and an answer that it does not call an error may still be one, because shells and
 * search tools report many errors as ordinary text.
 */
export const judgeResult = (text: string, error: boolean | undefined): ResultKind => {
  const body = text.slice(0, SCANNED_CHARS).replace(COLOURS, '').replace(LABEL, '');
  const isShort = text.length <= SHORT_CHARS;
  if (error !== false) {
    if (REFUSED.test(body)) return 'refused';
    if (isShort && SIBLING_FAILED.test(body)) return 'skipped';
    if (error === true) return 'failed';
  }
  if (isShort && SAYS_NOTHING.test(body)) return 'empty';
  if (isShort && FAILURE_WITHIN.test(body)) return 'failed';
  if (isShort && NOTHING_FOUND.test(body)) return 'negative';
  const line = firstLine(body).slice(0, 300);
  return FAILURE_START.test(line) || FAILURE_WITHIN.test(line) ? 'failed' : 'ok';
};

/** Returns the line that says what went wrong. Some agents put two lines before an answer: an exit code and a heading. */
export const failureLine = (text: string): string =>
  salientLine(text.slice(0, ERROR_CHARS).replace(PREAMBLE, '').replace(PREAMBLE, ''));

/** The same line, masked, so that it is equal for two occurrences of one error. */
export const errorLine = (text: string): string => maskText(failureLine(text));
