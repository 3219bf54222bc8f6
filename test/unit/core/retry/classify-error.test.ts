import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { isFailureCategory } from '../../../../src/protocol/failure-categories.ts';
import { classifyError } from '../../../../src/core/retry/classify-error.ts';
import { readErrorFacts } from '../../../../src/core/retry/read-error-facts.ts';
import type { ErrorFacts } from '../../../../src/core/retry/error-facts.ts';

const NOW = 1_700_000_000_000;
const line = (facts: ErrorFacts): string => {
  const { category, error_code, certainty } = classifyError(facts, NOW);
  return `${category} ${error_code} ${certainty}`;
};

describe('an answer over HTTP', () => {
  const table: [ErrorFacts, string][] = [
    [{ http_status: 429 }, 'rate_limit HTTP_429 failed'],
    [{ http_status: 429, provider_error_type: 'insufficient_quota' }, 'quota HTTP_429 failed'],
    [{ http_status: 429, code: 'insufficient_quota' }, 'quota HTTP_429 failed'],
    [
      { http_status: 429, message: 'You exceeded your current quota, please check your plan and billing details.' },
      'quota HTTP_429 failed',
    ],
    [
      { http_status: 429, retry_after: '20', message: 'You exceeded your current quota, check your plan and billing' },
      'rate_limit HTTP_429 failed',
    ],
    [{ http_status: 402 }, 'quota HTTP_402 failed'],
    [{ http_status: 401 }, 'auth HTTP_401 failed'],
    [{ http_status: 403 }, 'auth HTTP_403 failed'],
    [{ http_status: 403, message: 'API rate limit exceeded for 1.2.3.4' }, 'rate_limit HTTP_403 failed'],
    [{ http_status: 400, message: 'API key not valid. Please pass a valid one.' }, 'auth HTTP_400 failed'],
    [{ http_status: 408 }, 'timeout HTTP_408 failed'],
    [{ http_status: 413 }, 'context_length HTTP_413 failed'],
    [{ http_status: 400, code: 'context_length_exceeded' }, 'context_length HTTP_400 failed'],
    [
      { http_status: 400, message: "This model's maximum context length is 8192 tokens." },
      'context_length HTTP_400 failed',
    ],
    [
      { http_status: 400, provider_error_type: 'invalid_request_error', message: 'prompt is too long: 210000 tokens' },
      'context_length HTTP_400 failed',
    ],
    [{ http_status: 400, code: 'content_filter' }, 'content_filter HTTP_400 failed'],
    [{ http_status: 400, message: 'The response was blocked by safety settings' }, 'content_filter HTTP_400 failed'],
    [{ http_status: 400 }, 'invalid_input HTTP_400 failed'],
    [{ http_status: 404 }, 'invalid_input HTTP_404 failed'],
    [{ http_status: 422 }, 'invalid_input HTTP_422 failed'],
    [{ http_status: 500 }, 'server_error HTTP_500 failed'],
    [{ http_status: 503, message: 'try later' }, 'server_error HTTP_503 failed'],
    [{ http_status: 529, provider_error_type: 'overloaded_error' }, 'server_error HTTP_529 failed'],
    [{ http_status: 500, message: 'the content filter crashed' }, 'server_error HTTP_500 failed'],
    // Behind a gateway nobody can tell whether the work was done.
    [{ http_status: 502 }, 'server_error HTTP_502 unknown'],
    [{ http_status: 504 }, 'server_error HTTP_504 unknown'],
    [{ code: 503 }, 'server_error HTTP_503 failed'],
    [{ http_status: 302 }, 'unknown_error HTTP_302 failed'],
  ];
  test.each(table)('an HTTP answer with %j is classified as %s', (facts, expected) => {
    expect(line(facts)).toBe(expected);
  });
});

describe('no answer', () => {
  const table: [ErrorFacts, string][] = [
    [{ code: 'ECONNREFUSED' }, 'network ECONNREFUSED not_started'],
    [{ code: 'ENOTFOUND' }, 'network ENOTFOUND not_started'],
    [{ code: 'EAI_AGAIN' }, 'network EAI_AGAIN not_started'],
    [{ code: 'ECONNRESET' }, 'network ECONNRESET unknown'],
    [{ code: 'ECONNRESET', request_sent: true }, 'network ECONNRESET unknown'],
    [{ code: 'ECONNRESET', request_sent: false }, 'network ECONNRESET not_started'],
    [{ code: 'EPIPE' }, 'network EPIPE unknown'],
    [{ code: 'ETIMEDOUT', message: 'read ETIMEDOUT' }, 'timeout ETIMEDOUT unknown'],
    [{ code: 'ETIMEDOUT', message: 'connect ETIMEDOUT 10.0.0.1:443' }, 'timeout ETIMEDOUT not_started'],
    [{ code: 'UND_ERR_CONNECT_TIMEOUT' }, 'timeout UND_ERR_CONNECT_TIMEOUT not_started'],
    [{ code: 'UND_ERR_HEADERS_TIMEOUT' }, 'timeout UND_ERR_HEADERS_TIMEOUT unknown'],
    [{ code: 'CERT_HAS_EXPIRED' }, 'auth CERT_HAS_EXPIRED not_started'],
    [{ timed_out: true, code: 'ECONNRESET' }, 'timeout TIMEOUT unknown'],
    [{ timed_out: true, request_sent: false }, 'timeout TIMEOUT not_started'],
    [{ name: 'TimeoutError', code: 23 }, 'timeout TIMEOUT unknown'],
    [{ name: 'AbortError', code: 20 }, 'timeout TIMEOUT unknown'],
    [{ provider_error_type: 'overloaded_error' }, 'server_error OVERLOADED_ERROR failed'],
    [{ provider_error_type: 'RESOURCE_EXHAUSTED' }, 'rate_limit RESOURCE_EXHAUSTED failed'],
    [{ provider_error_type: 'content_filter' }, 'content_filter CONTENT_FILTER failed'],
  ];
  test.each(table)('a missing answer with %j is classified as %s', (facts, expected) => {
    expect(line(facts)).toBe(expected);
  });
});

describe('an exception', () => {
  const table: [ErrorFacts, string][] = [
    [
      { name: 'TypeError', message: "Cannot read properties of undefined (reading 'x')" },
      'unknown_error TypeError failed',
    ],
    [{ code: 'ENOENT', message: "ENOENT: no such file, open '/a'" }, 'unknown_error ENOENT failed'],
    [{ code: 'ENOENT', message: 'spawn nosuch ENOENT' }, 'invalid_input ENOENT not_started'],
    [{ code: 'EAGAIN', message: 'spawn node EAGAIN' }, 'unknown_error EAGAIN not_started'],
    [{ name: 'AxiosError', message: 'Request failed with status code 503' }, 'server_error AxiosError failed'],
    [{ name: 'Error', message: 'HTTP 429: slow down' }, 'rate_limit Error failed'],
    [{ name: 'Error', message: 'upstream said: too many requests' }, 'rate_limit Error failed'],
    [{ name: 'Error', message: 'connect ECONNREFUSED 127.0.0.1:5432' }, 'network Error not_started'],
    [{ name: 'Error', message: 'socket hang up' }, 'network Error unknown'],
    [{ name: 'Error', message: 'expected 404 items' }, 'unknown_error Error failed'],
    [{ name: 'Error', code: 'a sentence is not a code' }, 'unknown_error Error failed'],
    [{ code: 'no evidence'.replace(' ', '_') }, 'unknown_error NO_EVIDENCE failed'],
    [{}, 'unknown_error UNKNOWN failed'],
  ];
  test.each(table)('an exception with %j is classified as %s', (facts, expected) => {
    expect(line(facts)).toBe(expected);
  });
});

describe('a command that does not speak our exit codes', () => {
  const table: [ErrorFacts, string][] = [
    [{ exit_code: 1, stderr: 'boom' }, 'unknown_error EXIT_1 failed'],
    [{ exit_code: 2, stderr: '' }, 'unknown_error EXIT_2 failed'],
    [{ exit_code: 127, stderr: 'sh: nosuch: not found' }, 'invalid_input EXIT_127 failed'],
    [{ exit_code: 126 }, 'invalid_input EXIT_126 failed'],
    [{ exit_code: 124 }, 'timeout EXIT_124 unknown'],
    [{ exit_code: 75 }, 'server_error EXIT_75 failed'],
    [{ exit_code: 137 }, 'unknown_error EXIT_137 unknown'],
    [{ exit_code: 255 }, 'unknown_error EXIT_255 failed'],
    [{ exit_code: null, signal: 'SIGKILL' }, 'unknown_error SIGKILL unknown'],
    [{ exit_code: 7, stderr: 'curl: (7) Failed to connect: Connection refused' }, 'network EXIT_7 failed'],
    [{ exit_code: 6, stderr: 'curl: (6) Could not resolve host: example.test' }, 'network EXIT_6 failed'],
    [{ exit_code: 28, stderr: 'curl: (28) Operation timed out after 2000 ms' }, 'timeout EXIT_28 unknown'],
    [{ exit_code: 22, stderr: 'curl: (22) The requested URL returned error: 503' }, 'server_error EXIT_22 failed'],
    [{ exit_code: 22, stderr: 'curl: (22) The requested URL returned error: 404' }, 'invalid_input EXIT_22 failed'],
    [{ exit_code: 56, stderr: 'curl: (56) Recv failure: Connection reset by peer' }, 'network EXIT_56 unknown'],
    [{ exit_code: 128, stderr: 'fatal: Authentication failed for https://x.test/' }, 'auth EXIT_128 failed'],
    [{ exit_code: 1, stderr: 'openai.RateLimitError: Error code: 429 - slow down' }, 'rate_limit EXIT_1 failed'],
    [{ exit_code: 1, stderr: 'Error code: 429 - insufficient_quota' }, 'quota EXIT_1 failed'],
    [{ exit_code: 1, stderr: 'Error: Test timed out in 5000ms.' }, 'unknown_error EXIT_1 failed'],
    [{ exit_code: 1, timed_out: true, signal: 'SIGTERM' }, 'timeout TIMEOUT unknown'],
  ];
  test.each(table)('a command that ends with %j is classified as %s', (facts, expected) => {
    expect(line(facts)).toBe(expected);
  });

  test('a command is classified by the end of its output, however long the output is', () => {
    const stderr = `${'rate limit\n'.repeat(10_000)}${'x'.repeat(5_000)}\nconnection refused`;
    expect(line({ exit_code: 1, stderr })).toBe('network EXIT_1 failed');
  });
});

describe('what a tool says of itself', () => {
  test('the category and certainty that a tool sets are used', () => {
    expect(line({ category: 'quota', http_status: 503 })).toBe('quota HTTP_503 failed');
    expect(line({ category: 'network', certainty: 'not_started' })).toBe('network NETWORK not_started');
    expect(line({ category: 'timeout' })).toBe('timeout TIMEOUT unknown');
  });
  test('a tool cannot set an infrastructure category, which would leave no record', () => {
    expect(line({ category: 'worker_lost', name: 'Error' })).toMatch(/^unknown_error /);
    expect(line({ category: 'not_registered', http_status: 500 })).toMatch(/^server_error /);
  });
});

describe('Retry-After', () => {
  test('Retry-After is returned in milliseconds', () => {
    expect(classifyError({ http_status: 429, retry_after: '7' }, NOW).retry_after_ms).toBe(7_000);
    expect(classifyError({ http_status: 503, retry_after_ms: 250.2 }, NOW).retry_after_ms).toBe(251);
  });
  test('Retry-After is absent when the header is missing or invalid', () => {
    expect(classifyError({ http_status: 429 }, NOW)).not.toHaveProperty('retry_after_ms');
    expect(classifyError({ http_status: 429, retry_after: 'soon' }, NOW)).not.toHaveProperty('retry_after_ms');
    expect(classifyError({ http_status: 429, retry_after_ms: -1 }, NOW)).not.toHaveProperty('retry_after_ms');
  });
});

describe('facts of something thrown', () => {
  test('an error of fetch is classified by the code of its cause', () => {
    const cause = Object.assign(new Error('connect ECONNREFUSED 127.0.0.1:1'), { code: 'ECONNREFUSED' });
    expect(line(readErrorFacts(new TypeError('fetch failed', { cause })))).toBe('network ECONNREFUSED not_started');
  });
  test('an error with several addresses is classified by the first one', () => {
    const each = Object.assign(new Error('connect ECONNREFUSED ::1:1'), { code: 'ECONNREFUSED' });
    const cause = new AggregateError([each, each], '');
    expect(line(readErrorFacts(new TypeError('fetch failed', { cause })))).toBe('network ECONNREFUSED not_started');
  });
  test("an SDK's error is classified by its status, its type and its headers", () => {
    const headers = new Headers({ 'retry-after': '3' });
    const thrown = Object.assign(new Error('429'), { status: 429, headers, error: { type: 'rate_limit_error' } });
    expect(classifyError(readErrorFacts(thrown), NOW)).toEqual({
      category: 'rate_limit',
      error_code: 'HTTP_429',
      certainty: 'failed',
      retry_after_ms: 3_000,
    });
  });
  test('an abort by a timeout signal is classified as a timeout', () => {
    expect(line(readErrorFacts(new DOMException('The operation was aborted due to timeout', 'TimeoutError')))).toBe(
      'timeout TIMEOUT unknown',
    );
  });
  test('a circular chain of causes is read without an endless loop', () => {
    const thrown: { message: string; cause?: unknown } = { message: 'round' };
    thrown.cause = thrown;
    expect(line(readErrorFacts(thrown))).toBe('unknown_error UNKNOWN failed');
  });
});

describe('whatever it is given', () => {
  const keys: (keyof ErrorFacts)[] = ['name', 'message', 'code', 'http_status', 'retry_after', 'exit_code', 'signal'];
  const more = [
    'stderr',
    'timed_out',
    'provider_error_type',
    'request_sent',
    'category',
    'certainty',
    'retry_after_ms',
  ];
  const model = Object.fromEntries([...keys, ...more].map((key) => [key, fc.anything()]));
  const hostile = fc.oneof(
    fc.anything({ withNullPrototype: true, withBigInt: true, withDate: true, withMap: true, withSparseArray: true }),
    fc.record(model, { requiredKeys: [] }),
  );
  /** A valid classification: a known category, a known certainty and a short code. */
  const classify = (value: unknown): unknown => {
    const result: unknown = Reflect.apply(classifyError, undefined, [value, NOW]);
    return JSON.parse(JSON.stringify(result));
  };
  const wellFormed = {
    category: expect.toSatisfy(isFailureCategory),
    certainty: expect.stringMatching(/^(not_started|failed|unknown)$/),
    error_code: expect.stringMatching(/^[A-Za-z0-9_.:+-]{1,85}$/),
  };

  test('classifyError returns a category for any input and never throws', () => {
    fc.assert(
      fc.property(hostile, (value) => {
        expect(classify(value)).toMatchObject(wellFormed);
      }),
      { numRuns: 500 },
    );
  });
  test('readErrorFacts accepts any thrown value', () => {
    fc.assert(
      fc.property(hostile, (value) => {
        expect(classify(readErrorFacts(value))).toMatchObject(wellFormed);
      }),
      { numRuns: 300 },
    );
  });
  test('a getter that throws does not stop the classification', () => {
    const get = (): never => {
      throw new Error('no');
    };
    const trap = new Proxy({}, { get });
    expect(classify(trap)).toMatchObject(wellFormed);
    expect(classify(readErrorFacts(trap))).toMatchObject(wellFormed);
  });
});
