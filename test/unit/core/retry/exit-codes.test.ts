import { describe, expect, test } from 'vitest';
import { categoryOfProtocolExit, classifyCommandEnd } from '../../../../src/core/retry/exit-codes.ts';
import { readReport } from '../../../../src/core/retry/failure-report.ts';
import type { CommandEnd } from '../../../../src/core/retry/exit-codes.ts';

const end = (how: Partial<CommandEnd>): CommandEnd => ({
  exit_code: 0,
  signal: null,
  stderr: '',
  timed_out: false,
  protocol: true,
  ...how,
});
const line = (how: Partial<CommandEnd>): string => {
  const verdict = classifyCommandEnd(end(how));
  if (verdict.ok) return 'ok';
  return `${verdict.category} ${verdict.error_code} ${verdict.certainty}`;
};

describe('the exit codes of the protocol', () => {
  test.each<[number, string]>([
    [0, 'ok'],
    [1, 'validation_grounding EXIT_1 failed'],
    [2, 'validation_reasoning EXIT_2 failed'],
    [3, 'validation_both EXIT_3 failed'],
    [4, 'validation_unknown EXIT_4 failed'],
    [5, 'unknown_error EXIT_5 failed'],
    [6, 'unknown_error EXIT_6 failed'],
    [127, 'invalid_input EXIT_127 failed'],
  ])('the exit code %i is classified as %s', (exit_code, expected) => {
    expect(line({ exit_code })).toBe(expected);
  });

  test('the exit code 5 is classified by the text on stderr', () => {
    expect(line({ exit_code: 5, stderr: 'HTTP 503' })).toBe('server_error EXIT_5 failed');
  });
  test('a timeout or a signal is not classified by an exit code', () => {
    expect(line({ exit_code: 1, timed_out: true })).toBe('timeout TIMEOUT unknown');
    expect(line({ exit_code: null, signal: 'SIGSEGV' })).toBe('unknown_error SIGSEGV unknown');
  });
  test("the protocol's exit codes do not apply to a command that did not opt in", () => {
    expect(line({ exit_code: 1, protocol: false })).toBe('unknown_error EXIT_1 failed');
    expect(line({ exit_code: 3, protocol: false, stderr: 'too many requests' })).toBe('rate_limit EXIT_3 failed');
    expect(categoryOfProtocolExit(5)).toBeNull();
  });
});

describe('a failure report', () => {
  const report = readReport('{"missing": ["grounding metadata"]}');

  test('a failure report turns exit 0 into the failure that it names, opted in or not', () => {
    for (const protocol of [true, false])
      expect(classifyCommandEnd(end({ report, protocol }))).toEqual({
        ok: false,
        exit_code: 1,
        overridden_by_report: true,
        category: 'validation_grounding',
        error_code: 'EXIT_1',
        certainty: 'failed',
      });
  });
  test('a failure report changes no other exit code', () => {
    expect(line({ exit_code: 2, report })).toBe('validation_reasoning EXIT_2 failed');
    expect(line({ exit_code: 5, report })).toBe('unknown_error EXIT_5 failed');
    expect(line({ exit_code: null, signal: 'SIGKILL', report })).toBe('unknown_error SIGKILL unknown');
    expect(line({ timed_out: true, report })).toBe('timeout TIMEOUT unknown');
  });
  test('a failure report with an invalid format is a contract_violation', () => {
    expect(line({ report: readReport('{"missing": [') })).toBe('contract_violation EXIT_4 failed');
  });
});
