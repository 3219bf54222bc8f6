import type { Verdict } from './error-tables.ts';
import { verdict, classifyStatus } from './error-tables.ts';

/**
 * Phrases in messages that classify a failure when no field does. They are plain substrings of the lower-cased text, so
 * matching is linear. They are whole phrases, because the output of a test runner may contain the word "timeout".
 */
interface TextRule {
  verdict: Verdict;
  phrases: readonly string[];
}

/** Phrases that are more precise than an HTTP status of 400 or 429. */
const DECISIVE: readonly TextRule[] = [
  {
    verdict: verdict('context_length'),
    phrases: [
      'context_length_exceeded',
      'maximum context length',
      'context length exceeded',
      'context window exceeded',
      'exceeds the context window',
      'prompt is too long',
      'input token count exceeds',
      'reduce the length of the messages',
    ],
  },
  {
    verdict: verdict('content_filter'),
    phrases: [
      'content_filter',
      'content filter',
      'content_policy_violation',
      'content management policy',
      'blocked by safety',
      'blocked due to safety',
      'rejected by the safety system',
    ],
  },
  {
    verdict: verdict('auth'),
    phrases: ['invalid api key', 'incorrect api key', 'invalid_api_key', 'api key not valid'],
  },
];

/** Phrases about billing. One provider also uses them for a rate limit per minute, and then sends a Retry-After. */
const QUOTA_PHRASES: readonly string[] = [
  'insufficient_quota',
  'exceeded your current quota',
  'billing_hard_limit',
  'plan and billing',
  'billing account',
  'credit balance is too low',
  'payment required',
];

const GENERAL: readonly TextRule[] = [
  { verdict: verdict('rate_limit'), phrases: ['rate limit', 'rate_limit', 'rate-limit', 'too many requests'] },
  {
    verdict: verdict('network', 'not_started'),
    phrases: [
      'econnrefused',
      'connection refused',
      'enotfound',
      'eai_again',
      'could not resolve host',
      'name or service not known',
      'temporary failure in name resolution',
      'no route to host',
      'network is unreachable',
    ],
  },
  {
    verdict: verdict('network', 'unknown'),
    phrases: [
      'econnreset',
      'connection reset',
      'socket hang up',
      'broken pipe',
      'epipe',
      'connection closed unexpectedly',
    ],
  },
  {
    verdict: verdict('timeout', 'unknown'),
    phrases: [
      'etimedout',
      'operation timed out',
      'connection timed out',
      'request timed out',
      'read timed out',
      'deadline exceeded',
      'timeouterror',
      'readtimeout',
      'connecttimeout',
    ],
  },
  {
    verdict: verdict('auth'),
    phrases: ['unauthorized', 'authentication failed', 'permission denied (publickey', 'could not read username'],
  },
  {
    verdict: verdict('server_error'),
    phrases: ['internal server error', 'service unavailable', 'temporarily unavailable', 'overloaded_error'],
  },
];

const STATUS_IN_TEXT =
  /\b(?:http(?:\/\d(?:\.\d)?| error| status)?|status code|failed with status|returned error|error code)[:=]? ?([45]\d\d)\b/;

const firstRule = (rules: readonly TextRule[], text: string): Verdict | null =>
  rules.find((rule) => rule.phrases.some((phrase) => text.includes(phrase)))?.verdict ?? null;

export const mentionsRateLimit = (text: string): boolean => text.includes('rate limit');

export const classifyDecisiveText = (text: string, hasRetryAfter: boolean): Verdict | null => {
  if (!hasRetryAfter && QUOTA_PHRASES.some((phrase) => text.includes(phrase))) return verdict('quota');
  return firstRule(DECISIVE, text);
};

/** Classifies a message. `text` has to be in lower case and of limited size. */
export const classifyText = (text: string): Verdict | null => {
  const status = STATUS_IN_TEXT.exec(text)?.[1];
  return (status === undefined ? null : classifyStatus(Number(status))) ?? firstRule(GENERAL, text);
};
