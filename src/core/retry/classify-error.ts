import { defined } from '../../protocol/json.ts';
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
  classifyStatus,
} from './error-tables.ts';
import type { Verdict } from './error-tables.ts';
import { classifyDecisiveText, mentionsRateLimit, classifyText } from './error-text.ts';
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

/** A timeout before the request was sent is safe to repeat, so its certainty becomes `not_started`. */
const refineCertainty = (row: Verdict, facts: ErrorFacts, text: string): Verdict => {
  const neverConnected = row.category === 'timeout' && text.includes('connect etimedout');
  return row.certainty === 'unknown' && (facts.request_sent === false || neverConnected)
    ? verdict(row.category, 'not_started')
    : row;
};

const classifySystemCode = (facts: ErrorFacts, text: string): Verdict | null => {
  if (typeof facts.code !== 'string') return null;
  const code = facts.code.toUpperCase();
  if (text.startsWith('spawn '))
    return verdict(SPAWN_CODES.has(code) ? 'invalid_input' : 'unknown_error', 'not_started');
  const row = SYSTEM_CODES.get(code);
  return row === undefined ? null : refineCertainty(row, facts, text);
};

/**
 * Classifies a command that does not use our exit codes: first by the end of its output, then by the conventional
 * meaning of its code.
 */
const classifyExit = (facts: ErrorFacts, text: string): Verdict => {
  // A signal ended the command from outside, so its effect is unknown.
  if (typeof facts.signal === 'string' && facts.signal !== '') return verdict('unknown_error', 'unknown');
  const code = facts.exit_code ?? 0;
  const said = code === 124 ? null : (classifyDecisiveText(text, false) ?? classifyText(text));
  // The command ran, so it may have done a part of its work even if its message says that nothing was started.
  if (said !== null) return said.certainty === 'not_started' ? verdict(said.category) : said;
  return EXIT_CODES.get(code) ?? verdict('unknown_error', code > 128 && code <= 128 + 64 ? 'unknown' : 'failed');
};

const classifyResponse = (facts: ErrorFacts, text: string, hasRetryAfter: boolean): Verdict | null => {
  const status = statusOf(facts);
  const decisive = lookUp(DECISIVE_TYPES, facts);
  if (decisive !== null) return decisive;
  const precise = status === undefined || status < 500 ? classifyDecisiveText(text, hasRetryAfter) : null;
  if (precise !== null) return precise;
  if (status === 403 && mentionsRateLimit(text)) return verdict('rate_limit');
  return status === undefined ? null : classifyStatus(status);
};

const classifyFacts = (facts: ErrorFacts, hasRetryAfter: boolean): Verdict => {
  // A tool may name the category of its failure, except for infrastructure categories, because those make no failure
  // record.
  if (facts.category !== undefined && !isInfrastructure(facts.category))
    return verdict(facts.category, facts.category === 'timeout' ? 'unknown' : 'failed');
  if (facts.timed_out === true) return refineCertainty(verdict('timeout', 'unknown'), facts, '');

  const isExit = typeof facts.exit_code === 'number' || typeof facts.signal === 'string';
  if (isExit) return classifyExit(facts, (facts.stderr || facts.message || '').toLowerCase());

  const text = (facts.message ?? facts.stderr ?? '').toLowerCase();
  const known =
    classifyResponse(facts, text, hasRetryAfter) ?? lookUp(GENERAL_TYPES, facts) ?? classifySystemCode(facts, text);
  if (known !== null) return known;
  if (facts.name === 'TimeoutError' || facts.name === 'AbortError')
    return refineCertainty(verdict('timeout', 'unknown'), facts, text);
  const said = classifyText(text);
  return said === null ? verdict('unknown_error') : refineCertainty(said, facts, text);
};

/**
 * Classifies a failure from plain facts, for the retry decision. All failures are classified here. It never throws,
 * whatever it is given. `nowMs` is only needed to read a Retry-After that is a date.
 */
export const classifyError = (input: ErrorFacts, nowMs?: number): ClassifiedError => {
  const facts = readFacts(input);
  const given = facts.retry_after_ms;
  const retryAfterMs = given !== undefined && given >= 0 ? Math.ceil(given) : parseRetryAfter(facts.retry_after, nowMs);
  const { category, certainty } = classifyFacts(facts, retryAfterMs !== undefined);
  return {
    category,
    error_code: errorCodeOf(facts, category),
    certainty: facts.certainty ?? certainty,
    ...defined({ retry_after_ms: retryAfterMs }),
  };
};
