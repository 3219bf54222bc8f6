import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { fingerprintOf } from '../../../../src/core/failures/fingerprint.ts';
import type { FingerprintFields } from '../../../../src/core/failures/fingerprint.ts';

const BASE: FingerprintFields = { signal_type: 'tool_error', tool_name: 'fetch.page', error_code: 'HTTP_503' };
const withMessage = (message: string): string => fingerprintOf({ ...BASE, message });

const digits = (min: number, max: number) => fc.integer({ min, max }).map(String);
const two = (max: number) => fc.integer({ min: 1, max }).map((n) => String(n).padStart(2, '0'));
const characters = (alphabet: string, minLength: number, maxLength: number) =>
  fc.string({ unit: fc.constantFrom(...alphabet.split('')), minLength, maxLength });
const HEX = '0123456789abcdef';
const ALNUM = 'abcdefghijklmnopqrstuvwxyz0123456789';
const word = characters('abcdefghijklmnopqrstuvwxyz', 3, 9).filter((text) => !/^(?:tmp|[a-f]*$)/.test(text));
const clock = fc.tuple(two(23), two(59), two(59)).map((parts) => parts.join(':'));
const day = fc.tuple(digits(1990, 2090), two(12), two(28)).map((parts) => parts.join('-'));
const folders = fc.array(characters(`${ALNUM}_-`, 1, 12), { maxLength: 6 });

/** Everything that S1 calls volatile, as it looks inside a message. */
const VOLATILE: Record<string, fc.Arbitrary<string>> = {
  uuid: fc.uuid(),
  'upper-case uuid': fc.uuid().map((text) => text.toUpperCase()),
  'hex of 12 or more': characters(HEX, 12, 64),
  'request id': characters(ALNUM, 8, 30).map((id) => `(request id: ${id})`),
  'prefixed request id': characters(ALNUM, 10, 30).map((id) => `req_1${id}`),
  'ISO time': fc.tuple(day, clock, digits(0, 999_999)).map(([date, time, part]) => `${date}T${time}.${part}Z`),
  'time of day': clock,
  date: day,
  'HTTP date': fc.tuple(two(28), clock).map(([date, time]) => `Mon, ${date} Feb 2024 ${time} GMT`),
  'epoch milliseconds': digits(1_500_000_000_000, 2_000_000_000_000),
  milliseconds: digits(0, 10_000_000).map((ms) => `${ms}ms`),
  seconds: fc.tuple(digits(0, 999), digits(0, 999)).map((parts) => `${parts.join('.')} seconds`),
  'IPv4 and port': fc.tuple(fc.ipV4(), digits(1, 65_535)).map(([ip, port]) => `${ip}:${port}`),
  'IPv6 and port': fc.tuple(fc.ipV6(), digits(1, 65_535)).map(([ip, port]) => `[${ip}]:${port}`),
  'port of a host': digits(1, 65_535).map((port) => `db.example.com:${port}`),
  'line and column': fc.tuple(digits(1, 9_999), digits(1, 999)).map(([line, col]) => `main.ts:${line}:${col}`),
  position: digits(0, 1_000_000).map((at) => `at position ${at}`),
  'line of a file': digits(1, 100_000).map((at) => `line ${at}`),
  pid: digits(1, 4_000_000).map((pid) => `pid ${pid}`),
  'pid in brackets': digits(1, 4_000_000).map((pid) => `worker[${pid}]`),
  'row id in parentheses': digits(0, 1_000_000_000).map((id) => `row (${id})`),
  'key of a row': fc.tuple(digits(0, 9_999)).map(([id]) => `Key (id)=(${id})`),
  'temp name': characters(ALNUM, 8, 8).map((name) => `tmp${name}`),
  'folders of a path': folders.map((parts) => `/${[...parts, 'report.json'].join('/')}`),
  'folders of a quoted path': folders.map((parts) => `'/my home/${[...parts, 'report.json'].join('/')}'`),
  'folders of a Windows path': folders.map((parts) => `'C:\\${[...parts, 'report.json'].join('\\')}'`),
  'folders of a temp path': characters(ALNUM, 6, 6).map((name) => `/tmp/run-${name}/report.json`),
  'memory address': characters(HEX, 8, 8).map((text) => `0x7fff${text}`),
};

describe('a fingerprint', () => {
  it('a fingerprint has a readable prefix and a hash', () => {
    expect(fingerprintOf(BASE)).toMatch(/^fp1:tool_error:fetch\.page:HTTP_503:[0-9a-f]{16}$/);
    expect(fingerprintOf({ signal_type: 'budget_pressure', tool_name: null })).toMatch(/^fp1:budget_pressure:-:-:/);
  });

  it('a fingerprint of version fp1 never changes', () => {
    expect([
      fingerprintOf(BASE),
      withMessage('connect ECONNREFUSED 127.0.0.1:5432'),
      fingerprintOf({
        signal_type: 'retrieval_failure',
        tool_name: 'search',
        query: ' Two  Words ',
        chunk_ids: ['b', 'a'],
      }),
    ]).toMatchInlineSnapshot(`
      [
        "fp1:tool_error:fetch.page:HTTP_503:8551b32c8482320b",
        "fp1:tool_error:fetch.page:HTTP_503:2941164a104574ac",
        "fp1:retrieval_failure:search:-:6065be9dcfee7aad",
      ]
    `);
  });

  it('a fingerprint fits its column and its alphabet whatever the names are', () => {
    fc.assert(
      fc.property(
        fc.string({ maxLength: 300 }),
        fc.string({ maxLength: 300 }),
        fc.string(),
        (tool_name, error_code, message) => {
          const fingerprint = fingerprintOf({ signal_type: 'contract_violation', tool_name, error_code, message });
          expect(fingerprint).toMatch(/^fp1:[A-Za-z0-9._:-]+:[0-9a-f]{16}$/);
          expect(fingerprint.length).toBeLessThanOrEqual(200);
        },
      ),
    );
  });
});

describe('what must not change a fingerprint never does', () => {
  it.each(Object.entries(VOLATILE))('%s', (_name, volatile) => {
    fc.assert(
      fc.property(volatile, volatile, word, word, (one, other, before, after) => {
        expect(withMessage(`${before} failed: ${one} ${after}`)).toBe(
          withMessage(`${before} failed: ${other} ${after}`),
        );
      }),
      { numRuns: 300 },
    );
  });

  it('a fingerprint ignores the order of keys and chunks, repeated chunks, and the case and spaces of a query', () => {
    fc.assert(
      fc.property(fc.array(word, { maxLength: 8 }), word, (chunks, query) => {
        const one = fingerprintOf({
          signal_type: 'retrieval_failure',
          tool_name: 't',
          query: `${query} B`,
          chunk_ids: chunks,
        });
        const other = fingerprintOf({
          chunk_ids: [...chunks, ...chunks].reverse(),
          query: ` ${query.toUpperCase()}\n b `,
          tool_name: 't',
          signal_type: 'retrieval_failure',
        });
        expect(one).toBe(other);
      }),
    );
  });

  it('a fingerprint does not distinguish absent, null and empty fields', () => {
    const empty = { ...BASE, query: '', chunk_ids: [], message: '' };
    expect(fingerprintOf(empty)).toBe(fingerprintOf({ ...BASE, query: null, chunk_ids: null, message: null }));
    expect(fingerprintOf(empty)).toBe(fingerprintOf(BASE));
  });

  it('a fingerprint ignores the frames of a stack and of a traceback', () => {
    fc.assert(
      fc.property(fc.array(word), fc.array(word), word, (one, other, what) => {
        const node = (names: string[]) =>
          `TypeError: ${what}\n${names.map((name) => `    at ${name} (/x/${name}.js:1:2)`).join('\n')}`;
        const python = (names: string[]) =>
          `Traceback (most recent call last):\n${names.map((name) => `  File "/x/${name}.py", line 3\n`).join('')}TypeError: ${what}`;
        expect(withMessage(node(one))).toBe(withMessage(node(other)));
        expect(withMessage(python(one))).toBe(withMessage(python(other)));
      }),
    );
  });
});

describe('what must change a fingerprint always does', () => {
  const different = (arbitrary: fc.Arbitrary<string>) => fc.uniqueArray(arbitrary, { minLength: 2, maxLength: 2 });

  it.each(['tool_name', 'error_code'] as const)('another %s, even where the prefix looks the same', (field) => {
    fc.assert(
      fc.property(different(fc.string({ minLength: 1, maxLength: 200 })), ([one, other]) => {
        expect(fingerprintOf({ ...BASE, [field]: one })).not.toBe(fingerprintOf({ ...BASE, [field]: other }));
      }),
    );
    expect(fingerprintOf({ ...BASE, [field]: 'a b' })).not.toBe(fingerprintOf({ ...BASE, [field]: 'a_b' }));
  });

  it('another query or another set of chunks changes the fingerprint', () => {
    fc.assert(
      fc.property(different(word), ([one, other]) => {
        expect(fingerprintOf({ ...BASE, query: one })).not.toBe(fingerprintOf({ ...BASE, query: other }));
        expect(fingerprintOf({ ...BASE, chunk_ids: [one!] })).not.toBe(fingerprintOf({ ...BASE, chunk_ids: [other!] }));
        expect(fingerprintOf({ ...BASE, chunk_ids: [`${one}${other}`] })).not.toBe(
          fingerprintOf({ ...BASE, chunk_ids: [one!, other!] }),
        );
      }),
    );
  });

  it('moving text from one field to another changes the fingerprint', () => {
    fc.assert(
      fc.property(word, word, (one, other) => {
        fc.pre(one !== other);
        const swapped = fingerprintOf({ ...BASE, tool_name: other, error_code: one });
        expect(fingerprintOf({ ...BASE, tool_name: one, error_code: other })).not.toBe(swapped);
        expect(fingerprintOf({ ...BASE, query: one })).not.toBe(fingerprintOf({ ...BASE, message: one }));
      }),
    );
  });

  it.each([
    ['missing modules', (name: string) => `Error: Cannot find module '${name}'`],
    ['scoped modules', (name: string) => `Error: Cannot find module '@scope/${name}'`],
    ['scopes', (name: string) => `Error: Cannot find module '@${name}/core'`],
    ['subpaths', (name: string) => `Error: Cannot find module '${name}/promises'`],
    ['constraints', (name: string) => `violates unique constraint "${name}_key"`],
    ['columns', (name: string) => `column ${name} does not exist`],
    ['files', (name: string) => `ENOENT: open '/home/u/${name}.json'`],
    ['hosts', (name: string) => `getaddrinfo ENOTFOUND ${name}.example.com`],
    ['hosts in addresses', (name: string) => `GET https://${name}.example.com/v1/x failed`],
    ['exceptions', (name: string) => `Traceback (most recent call last):\n  File "a.py", line 1\n${name}.Broken: no`],
  ])('two %s', (_name, message) => {
    fc.assert(
      fc.property(different(word), ([one, other]) => {
        expect(withMessage(message(one!))).not.toBe(withMessage(message(other!)));
      }),
    );
  });

  it.each([
    ['status codes', 'status code 404', 'status code 500'],
    ['statuses after a colon', 'HTTP status:404', 'HTTP status:500'],
    ['exit codes', 'exit code 1', 'exit code 137'],
    ['compiler codes', 'a.ts(1,1): error TS2304: no', 'a.ts(1,1): error TS2305: no'],
    ['signals', 'killed by signal 9', 'killed by signal 15'],
  ])('two %s', (_name, one, other) => {
    expect(withMessage(one)).not.toBe(withMessage(other));
  });
});
