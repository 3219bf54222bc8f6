import type { FailureCategory } from '../../protocol/failure-categories.ts';
import type { Certainty } from '../../protocol/tools.ts';
import { errorCodeOf } from './error-code.ts';
import { readFacts, statusOf } from './error-facts.ts';
import type { ErrorFacts } from './error-facts.ts';
import {
  DECISIVE_TYPES,
  EXIT_CODES,
  GENERAL_TYPES,
  SPAWN_CODES,
  SYSTEM_CODES,
  verdict,
  verdictOfStatus,
} from './error-tables.ts';
import type { Verdict } from './error-tables.ts';
import { decisiveVerdictOfText, mentionsRateLimit, verdictOfText } from './error-text.ts';
import { parseRetryAfter } from './retry-after.ts';
import { isInfrastructure } from './strategies.ts';

export interface ClassifiedError {
  category: FailureCategory;
  error_code: string;
  certainty: Certainty;
  retry_after_ms?: number;
}

const lookUp = (table: ReadonlyMap<string, Verdict>, facts: ErrorFacts): Verdict | null => {
  for (const name of [facts.provider_error_type, facts.code]) {
    const found = typeof name === 'string' ? table.get(name.toLowerCase()) : undefined;
    if (found !== undefined) return found;
  }
  return null;
};

/** Time ran out before or after the request left? Only the first is safe to repeat. */
const refined = (row: Verdict, facts: ErrorFacts, text: string): Verdict => {
  const neverConnected = row.category === 'timeout' && text.includes('connect etimedout');
  return row.certainty === 'unknown' && (facts.request_sent === false || neverConnected)
    ? verdict(row.category, 'not_started')
    : row;
};

const verdictOfSystemCode = (facts: ErrorFacts, text: string): Verdict | null => {
  if (typeof facts.code !== 'string') return null;
  const code = facts.code.toUpperCase();
  if (text.startsWith('spawn '))
    return verdict(SPAWN_CODES.has(code) ? 'invalid_input' : 'unknown_error', 'not_started');
  const row = SYSTEM_CODES.get(code);
  return row === undefined ? null : refined(row, facts, text);
};

/** A command that does not speak our exit codes: what it said last, then what its code means by convention. */
const verdictOfExit = (facts: ErrorFacts, text: string): Verdict => {
  // Ended from outside, in the middle of whatever it was doing.
  if (typeof facts.signal === 'string' && facts.signal !== '') return verdict('unknown_error', 'unknown');
  const code = facts.exit_code ?? 0;
  const said = code === 124 ? null : (decisiveVerdictOfText(text, false) ?? verdictOfText(text));
  // It ran, so "not started" is not for a command to say: it may have done half its work before it was refused.
  if (said !== null) return said.certainty === 'not_started' ? verdict(said.category) : said;
  return EXIT_CODES.get(code) ?? verdict('unknown_error', code > 128 && code <= 128 + 64 ? 'unknown' : 'failed');
};

const verdictOfAnswer = (facts: ErrorFacts, text: string, hasRetryAfter: boolean): Verdict | null => {
  const status = statusOf(facts);
  const decisive = lookUp(DECISIVE_TYPES, facts);
  if (decisive !== null) return decisive;
  const precise = status === undefined || status < 500 ? decisiveVerdictOfText(text, hasRetryAfter) : null;
  if (precise !== null) return precise;
  if (status === 403 && mentionsRateLimit(text)) return verdict('rate_limit');
  return status === undefined ? null : verdictOfStatus(status);
};

const verdictOf = (facts: ErrorFacts, hasRetryAfter: boolean): Verdict => {
  // A tool may say what its failure was, but not that it was the platform's: that would escape the failure memory.
  if (facts.category !== undefined && !isInfrastructure(facts.category))
    return verdict(facts.category, facts.category === 'timeout' ? 'unknown' : 'failed');
  if (facts.timed_out === true) return refined(verdict('timeout', 'unknown'), facts, '');

  const isExit = typeof facts.exit_code === 'number' || typeof facts.signal === 'string';
  if (isExit) return verdictOfExit(facts, (facts.stderr || facts.message || '').toLowerCase());

  const text = (facts.message ?? facts.stderr ?? '').toLowerCase();
  const known =
    verdictOfAnswer(facts, text, hasRetryAfter) ?? lookUp(GENERAL_TYPES, facts) ?? verdictOfSystemCode(facts, text);
  if (known !== null) return known;
  if (facts.name === 'TimeoutError' || facts.name === 'AbortError')
    return refined(verdict('timeout', 'unknown'), facts, text);
  const said = verdictOfText(text);
  return said === null ? verdict('unknown_error') : refined(said, facts, text);
};

/**
 * The one classifier: from plain facts to what retrying needs to know. It never throws, whatever it is given.
 * `nowMs` is only needed to read a Retry-After that is a date.
 */
export const classifyError = (input: ErrorFacts, nowMs?: number): ClassifiedError => {
  const facts = readFacts(input);
  const given = facts.retry_after_ms;
  const retryAfterMs = given !== undefined && given >= 0 ? Math.ceil(given) : parseRetryAfter(facts.retry_after, nowMs);
  const { category, certainty } = verdictOf(facts, retryAfterMs !== undefined);
  return {
    category,
    error_code: errorCodeOf(facts, category),
    certainty: facts.certainty ?? certainty,
    ...(retryAfterMs === undefined ? {} : { retry_after_ms: retryAfterMs }),
  };
};
