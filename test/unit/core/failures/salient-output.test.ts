/**
 * What goes to a model of the output of a failed command. The outputs below are written as the runners print them, with
 * so much around the failure that they do not fit.
 */
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { hashResult } from '../../../../src/core/failures/hash-result.ts';
import { salientOutput } from '../../../../src/core/failures/salient-output.ts';
import { encodedBytes } from '../../../../src/core/transcript/shorten-to-bytes.ts';
import { CAP } from '../../../../src/protocol/caps.ts';

const many = (line: (n: number) => string, count = 400): string[] => Array.from({ length: count }, (_, n) => line(n));
const surrounded = (lines: string[], pass: (n: number) => string): string =>
  [...many(pass), ...lines, ...many(pass)].join('\n');

/** Per runner: what it prints, and what a model has to see of it. */
const RUNNERS: Record<string, { stdout?: string; stderr?: string; shows: string[] }> = {
  vitest: {
    stdout: surrounded(
      ['   \u001b[31m×\u001b[39m \u001b[2msums > \u001b[22madds negative numbers \u001b[90m12ms\u001b[39m'],
      (n) => ` \u001b[32m✓\u001b[39m test/unit/file-${n}.test.ts \u001b[2m(3 tests)\u001b[22m 4ms`,
    ),
    stderr: surrounded(
      [
        ' FAIL  test/unit/sum.test.ts > sums > adds negative numbers',
        'AssertionError: expected -1 to be -5 // Object.is equality',
        '',
        '- Expected',
        '+ Received',
        '',
        '- -5',
        '+ -1',
      ],
      (n) => `stderr | test/unit/other-${n}.test.ts > logs something`,
    ),
    shows: ['FAIL  test/unit/sum.test.ts > sums > adds negative numbers', 'expected -1 to be -5', '+ -1'],
  },
  jest: {
    stderr: surrounded(
      [
        'FAIL src/sum.test.js',
        '  ● sums › adds negative numbers',
        '',
        '    expect(received).toBe(expected)',
        '',
        '    Expected: -5',
        '    Received: -1',
      ],
      (n) => `PASS src/file-${n}.test.js`,
    ),
    shows: ['FAIL src/sum.test.js', '● sums › adds negative numbers', 'Expected: -5', 'Received: -1'],
  },
  pytest: {
    stdout: surrounded(
      [
        '____________________ test_adds_negative_numbers ____________________',
        '',
        '    def test_adds_negative_numbers():',
        '>       assert add(-2, -3) == -5',
        'E       assert -1 == -5',
        '',
        'FAILED tests/test_sum.py::test_adds_negative_numbers - assert -1 == -5',
      ],
      (n) => `tests/test_file_${n}.py::test_it PASSED [ 10%]`,
    ),
    shows: ['test_adds_negative_numbers', 'E       assert -1 == -5', 'FAILED tests/test_sum.py'],
  },
  'go test': {
    stdout: surrounded(
      [
        '=== RUN   TestAddsNegativeNumbers',
        '    sum_test.go:12: got -1, want -5',
        '--- FAIL: TestAddsNegativeNumbers (0.00s)',
      ],
      (n) => `--- PASS: TestFile${n} (0.00s)`,
    ),
    shows: ['--- FAIL: TestAddsNegativeNumbers', 'got -1, want -5'],
  },
  tsc: {
    stdout: surrounded(
      ["src/sum.ts(3,10): error TS2322: Type 'string' is not assignable to type 'number'."],
      (n) => `TSFILE: dist/file-${n}.js`,
    ),
    shows: ['src/sum.ts(3,10): error TS2322'],
  },
  cargo: {
    stdout: surrounded(
      [
        'test sum::adds_negative_numbers ... FAILED',
        '---- sum::adds_negative_numbers stdout ----',
        "thread 'sum::adds_negative_numbers' panicked at src/lib.rs:10:9:",
        'assertion `left == right` failed',
        '  left: -1',
        ' right: -5',
      ],
      (n) => `test file_${n}::works ... ok`,
    ),
    stderr: many((n) => `warning: unused variable: \`x${n}\``).join('\n'),
    shows: ['sum::adds_negative_numbers ... FAILED', 'assertion `left == right` failed', ' right: -5'],
  },
  mocha: {
    stdout: surrounded(
      ['  1) sums', '       adds negative numbers:', '', '      AssertionError [ERR_ASSERTION]: -1 == -5'],
      (n) => `    ✔ works in case ${n}`,
    ),
    shows: ['1) sums', 'adds negative numbers', '-1 == -5'],
  },
  'node --test': {
    stdout: surrounded(
      [
        'not ok 1 - adds negative numbers',
        '  ---',
        '  duration_ms: 1.2',
        "  error: 'Expected values to be strictly equal'",
      ],
      (n) => `ok ${n} - works`,
    ),
    shows: ['not ok 1 - adds negative numbers', 'Expected values to be strictly equal'],
  },
};

describe('the salient part of the output of a failed command', () => {
  for (const [runner, { stdout = '', stderr = '', shows }] of Object.entries(RUNNERS)) {
    it(`names the failure that ${runner} reports in the middle of a long output`, () => {
      const text = salientOutput({ stdout, stderr });
      for (const part of shows) expect(text).toContain(part);
      expect(encodedBytes(text)).toBeLessThanOrEqual(CAP.failedOutputBytes);
    });
  }

  it('is the whole output without colours and progress bars, if that fits', () => {
    const stdout = '10%\r100%\r\n\u001b[31mbroken\u001b[0m  \n\n\n\nbye\n';
    expect(salientOutput({ stdout, stderr: '' })).toBe('10%\n100%\nbroken\n\nbye');
    expect(salientOutput({ stdout: 'out', stderr: 'err\n' })).toBe('out\n[stderr]\nerr');
    expect(salientOutput({ stdout: '', stderr: '\n' })).toBe('');
  });

  it('puts the failing lines first and then the end of both streams', () => {
    const noise = (stream: string) => many((n) => `${stream} line ${n} of nothing in particular`).join('\n');
    const stdout = `FAIL one\n${noise('out')}\nlast of stdout`;
    const text = salientOutput({ stdout, stderr: `${noise('err')}\nlast of stderr` });
    const order = ['[failing lines]', 'FAIL one', '[end of stdout]', 'last of stdout', '[end of stderr]'];
    expect(order.map((part) => text.indexOf(part))).toEqual(
      order.map((part) => text.indexOf(part)).toSorted((a, b) => a - b),
    );
    expect(text.indexOf('FAIL one')).toBeGreaterThan(-1);
    expect(text.endsWith('last of stderr')).toBe(true);
  });

  const anyLine = fc.oneof(
    fc.string({ maxLength: 300 }),
    fc.string({ unit: 'binary', maxLength: 100 }),
    fc.constantFrom('FAIL a.test.ts > adds', '', '   ', '✓ works', 'E   assert 1 == 2', 'x'.repeat(5_000)),
  );
  const anyText = fc.array(anyLine, { maxLength: 300 }).map((lines) => lines.join('\n'));

  it('never takes more than its bytes and never has half a character, whatever was printed', () => {
    fc.assert(
      fc.property(anyText, anyText, fc.integer({ min: 300, max: 10_000 }), (stdout, stderr, maxBytes) => {
        const text = salientOutput({ stdout, stderr }, maxBytes);
        expect(encodedBytes(text)).toBeLessThanOrEqual(maxBytes);
        expect(text).not.toMatch(/\p{Surrogate}/u);
      }),
      { numRuns: 300 },
    );
  });

  it('has every failing line that fits into half of the bytes, and ends with the last line of the output', () => {
    const failures = fc.uniqueArray(fc.integer({ min: 0, max: 9_999 }), { minLength: 1, maxLength: 60 });
    const places = fc.array(fc.integer({ min: 0, max: 50 }), { minLength: 60, maxLength: 60 });
    fc.assert(
      fc.property(failures, places, (numbers, gaps) => {
        const lines = numbers.flatMap((n, at) => [
          ...many((k) => `✓ case ${k} works`, gaps[at]),
          `FAIL case ${n} breaks`,
        ]);
        const text = salientOutput({ stdout: [...lines, ...many((k) => `done ${k}`)].join('\n'), stderr: '' });
        const shown = new Set(text.split('\n'));
        expect(numbers.filter((n) => !shown.has(`FAIL case ${n} breaks`))).toEqual([]);
        expect(text.endsWith('done 399')).toBe(true);
      }),
      { numRuns: 50 },
    );
  });

  it('is found in a megabyte of output without delay', () => {
    const stdout = [...many((n) => `line ${n} ${'x'.repeat(60)}`, 15_000), 'FAIL the one', 'y'.repeat(200_000)].join(
      '\n',
    );
    const start = performance.now();
    expect(salientOutput({ stdout, stderr: stdout })).toContain('FAIL the one');
    // Takes about 100 ms. A quadratic pattern would take minutes.
    expect(performance.now() - start).toBeLessThan(10_000);
  });
});

describe('the hash of how a command ended', () => {
  const command = { argv: ['npm', 'test'], stdin: null };
  const said = 'FAIL sum > adds (12 ms)\nPASS a\nfinished at 2026-11-17T10:00:00Z, duration_ms 12.5';

  it('is the same if only times and the order of lines differ', () => {
    const again = 'PASS a\nFAIL sum > adds (15 ms)\nfinished at 2026-11-17T10:01:07Z, duration_ms 9.25';
    expect(hashResult(command, 1, again)).toBe(hashResult(command, 1, said));
  });

  it('differs if another test fails, the code is another one, or another command was run', () => {
    const hashes = [
      hashResult(command, 1, said),
      hashResult(command, 1, said.replace('adds', 'subtracts')),
      hashResult(command, 2, said),
      hashResult({ ...command, argv: ['npm', 'run', 'test'] }, 1, said),
      hashResult({ ...command, stdin: 'y' }, 1, said),
    ];
    expect(new Set(hashes).size).toBe(hashes.length);
  });
});
