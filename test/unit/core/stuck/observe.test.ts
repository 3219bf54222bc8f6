/** The detector as agentRun, inspect and guards use it. The transcripts are our own; figures on real ones are LoopBench's. */
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { ObservedCall } from '../../../../src/core/stuck/call-features.ts';
import { createStuckState, observe, type StuckState } from '../../../../src/core/stuck/observe.ts';
import type { Verdict } from '../../../../src/core/stuck/verdict.ts';
import { DEFAULT_POLICY } from '../../../../src/protocol/policy.ts';
import { edit, OWN_TRANSCRIPTS, shell } from './own-transcripts.ts';

const POLICY = DEFAULT_POLICY.loops;

const watch = (calls: readonly ObservedCall[], viaJson = false) => {
  let state = createStuckState();
  const verdicts: (Verdict | null)[] = [];
  let largest = 0;
  for (const call of calls) {
    const before = viaJson ? (JSON.parse(JSON.stringify(state)) as StuckState) : state;
    const observed = observe(before, call, POLICY);
    state = observed.state;
    verdicts.push(observed.verdict);
    largest = Math.max(largest, JSON.stringify(state).length);
  }
  const stuck = verdicts.find((verdict) => verdict?.level === 'stuck');
  const suspect = verdicts.find((verdict) => verdict !== null);
  return { state, verdicts, stuck, suspect, largest };
};

describe('our own transcripts', () => {
  it.each(OWN_TRANSCRIPTS.filter(({ stuck }) => stuck !== null))('$name: stuck', ({ calls, stuck }) => {
    const found = watch(calls);
    expect({ rule: found.stuck?.rule, at: found.stuck?.end }).toEqual(stuck);
    expect(found.suspect?.end).toBeLessThanOrEqual(found.stuck?.end ?? 0);
  });

  it.each(OWN_TRANSCRIPTS.filter(({ stuck }) => stuck === null))('$name: never stuck', ({ calls }) => {
    expect(watch(calls).stuck).toBeUndefined();
  });

  it('a verdict names its calls, its signal, and what would have counted as progress', () => {
    const calls = Array.from({ length: 4 }, (_, n) => shell(`cd room-${n}*`, 'sh: cd: too many arguments'));
    expect(watch([shell('pwd', '/srv'), ...calls]).stuck).toEqual({
      level: 'stuck',
      rule: 'same_error',
      tool_name: 'bash',
      start: 2,
      end: 5,
      calls: [2, 3, 4, 5],
      repeats: 4,
      signal: '4 calls with different inputs failed with the same error.',
      progress: 'A success, or at least another error.',
    });
  });

  it('suspicion comes before certainty, and a later good answer ends both', () => {
    const failing = (n: number): ObservedCall => shell(`cat ${n}.txt`, 'cat: permission denied');
    const { verdicts } = watch([failing(1), failing(2), failing(3), failing(4), shell('ls', 'a\nb\nc')]);
    expect(verdicts.map((verdict) => verdict?.level ?? null)).toEqual([null, null, 'suspect', 'stuck', null]);
  });
});

describe('progress', () => {
  const failing: ObservedCall = shell('python mail.py', 'Traceback (most recent call last):\nKeyError: 7');

  it('a message of a person starts every count again', () => {
    expect(watch([failing, failing, { ...failing, after_user: true }, failing]).stuck).toBeUndefined();
    expect(watch([failing, failing, failing]).stuck?.rule).toBe('same_call_failing');
  });

  it('a change with another outcome ends the rounds of edits and runs', () => {
    const other = shell('python mail.py', 'Traceback (most recent call last):\nValueError: bad stamp');
    const rounds = [edit('a'), failing, edit('b'), failing, edit('c'), other, edit('d'), failing, edit('e'), failing];
    expect(watch(rounds).stuck).toBeUndefined();
  });

  it('a call that was skipped because of its sibling is not counted', () => {
    const skipped: ObservedCall = { tool: 'read', input: 'a', output: 'Sibling tool call errored', error: true };
    expect(watch(Array.from({ length: 9 }, () => skipped)).suspect).toBeUndefined();
  });

  it('calls of ignored tools are numbered but not judged', () => {
    let state = createStuckState();
    for (let n = 0; n < 9; n += 1) {
      const observed = observe(state, failing, { ...POLICY, ignore_tools: ['bash'] });
      expect(observed.verdict).toBeNull();
      state = observed.state;
    }
    expect(state.calls).toBe(9);
  });
});

describe('any sequence of calls', () => {
  const word = fc.constantFrom(
    'ledger',
    'stamp',
    'parcel',
    'not found',
    'Error: refused',
    '',
    '[]',
    'queue 7',
    'queue 8',
  );
  const call: fc.Arbitrary<ObservedCall> = fc.record({
    tool: fc.constantFrom('bash', 'search', 'edit', 'read'),
    input: fc.oneof(word, fc.record({ command: word }), fc.jsonValue()),
    output: fc.oneof(word, fc.jsonValue(), fc.string({ maxLength: 3000 })),
    error: fc.constantFrom(true, false, undefined),
    after_user: fc.constantFrom(undefined, undefined, undefined, true),
  });

  it('gives the same verdicts again, also when the state travels as JSON after every call', () => {
    fc.assert(
      fc.property(fc.array(call, { maxLength: 60 }), (calls) => {
        expect(watch(calls, true).verdicts).toEqual(watch(calls).verdicts);
      }),
      { numRuns: 60 },
    );
  });

  it('keeps a state of bounded size', () => {
    const calls = Array.from({ length: 2000 }, (_, n): ObservedCall => ({
      tool: `tool-${n % 3}`,
      input: { command: `look ${n} ${'long words in between '.repeat(30)}` },
      output: `${n} ${Array.from({ length: 200 }, (_unused, k) => `word${String.fromCharCode(97 + (k % 26))}${'x'.repeat(k % 9)}`).join(' ')}`,
    }));
    expect(watch(calls).largest).toBeLessThan(48_000);
  });
});

describe('honest work is never stuck', () => {
  const noun = fc.stringMatching(/^[a-z]{4,9}$/);
  const several = fc.uniqueArray(noun, { minLength: 12, maxLength: 40 });
  const stuckIn = (make: (words: string[]) => ObservedCall[]): Verdict[] =>
    fc.sample(several, 80).flatMap((words) => watch(make(words)).stuck ?? []);

  it('paging through a list', () => {
    const stuck = stuckIn((words) =>
      words.map((word, n) => ({ tool: 'list', input: { cursor: n }, output: `${word} ${word}s page ${n}` })),
    );
    expect(stuck).toEqual([]);
  });

  it('polling a job that moves, with numbers only', () => {
    const stuck = stuckIn((words) =>
      words.map((_, n) => ({ tool: 'status', input: { id: 1 }, output: { progress: n, of: words.length } })),
    );
    expect(stuck).toEqual([]);
  });

  it('one call for each item', () => {
    const stuck = stuckIn((words) =>
      words.map((word) => ({ tool: 'get_item', input: { name: word }, output: `${word} is in stock` })),
    );
    expect(stuck).toEqual([]);
  });

  it('the same edit in many files', () => {
    const stuck = stuckIn((words) =>
      words.map((word) => ({ tool: 'edit', input: { path: `${word}.ts`, text: 'x' }, output: 'File updated.' })),
    );
    expect(stuck).toEqual([]);
  });

  it('tests after edits, with whatever errors the edits leave', () => {
    const stuck = stuckIn((words) =>
      words.flatMap((word) => [edit(word), shell('npm test', `AssertionError: expected ${word} to be ready`)]),
    );
    expect(stuck).toEqual([]);
  });

  it('bisecting, which answers good or bad', () => {
    const stuck = stuckIn((words) =>
      words.flatMap((word, n) => [
        shell(`git checkout ${word}`, `HEAD is now at ${word}`),
        shell('npm test', n % 2 === 0 ? 'FAIL one test' : 'PASS all tests'),
      ]),
    );
    expect(stuck).toEqual([]);
  });
});
