/** The guard in process: the same verdicts as inspect, its three modes, its state, and what it does with its own errors. */
import { describe, expect, it } from 'vitest';
import { CallCollector } from '../../../src/core/inspect/collect-calls.ts';
import type { ObservedCall } from '../../../src/core/stuck/call-features.ts';
import { createGuard, type Guard, type GuardOptions, GuardStopError } from '../../../src/guard.ts';
import { DEFAULT_POLICY } from '../../../src/protocol/policy.ts';
import { OWN_TRANSCRIPTS } from '../core/stuck/own-transcripts.ts';

const make = (options: Partial<GuardOptions> = {}): Guard =>
  createGuard({ agent: 'clerk', log: (line) => expect.fail(line), ...options });

const answered = ({ tool, input, output, error }: ObservedCall) =>
  error === true ? { tool, input, error: output } : { tool, input, output };

const inspectCalls = (calls: readonly ObservedCall[]) => {
  const collector = new CallCollector(DEFAULT_POLICY.loops);
  for (const { tool, input, output, error, after_user } of calls) {
    if (after_user === true) collector.add({ type: 'user' });
    collector.add({ type: 'call', id: null, tool, input });
    collector.add({ type: 'result', id: null, output, error });
  }
  return { loops: collector.loops, failures: [...collector.failures.values()] };
};

const FAILING = { tool: 'read_file', input: { path: 'a.txt' }, error: 'a.txt: permission denied' };

describe('the same calls through inspect and a guard', () => {
  it.each(OWN_TRANSCRIPTS)('$name', async ({ calls, stuck }) => {
    const observing = make({ mode: 'observe' });
    const enforcing = make({ mode: 'enforce' });
    let stoppedAt: number | null = null;
    for (const [index, call] of calls.entries()) {
      if (call.after_user === true) {
        observing.userMessage();
        enforcing.userMessage();
      }
      expect(await observing.before(call)).toMatchObject({ verdict: 'allow' });
      const seen = await observing.after(answered(call));
      expect([seen.verdict, seen.text]).toEqual(['continue', undefined]);
      if (stoppedAt !== null) continue;
      expect((await enforcing.before(call)).verdict).toBe('allow');
      if ((await enforcing.after(answered(call))).verdict === 'stop') stoppedAt = index + 1;
    }
    const { loops, failures } = inspectCalls(calls);
    expect(observing.report()).toMatchObject({ calls: calls.length, loops });
    expect(observing.report().failures).toHaveLength(failures.length);
    expect(stoppedAt).toBe(stuck?.at ?? null);
    expect(enforcing.stopped?.would_stop_at ?? null).toBe(stoppedAt);
  });

  it('continues in another process after every call, with a state of bounded size', async () => {
    for (const { calls } of OWN_TRANSCRIPTS) {
      const whole = make({ mode: 'guide' });
      let state: string | undefined;
      for (const call of calls) {
        const next = make({ mode: 'guide', ...(state !== undefined && { state: JSON.parse(state) as unknown }) });
        if (call.after_user === true) for (const guard of [whole, next]) guard.userMessage();
        expect(await next.before(call)).toEqual(await whole.before(call));
        expect(await next.after(answered(call))).toEqual(await whole.after(answered(call)));
        state = JSON.stringify(next.state());
      }
      expect(JSON.parse(state ?? '')).toEqual(JSON.parse(JSON.stringify(whole.state())));
    }
    const busy = make({ mode: 'guide' });
    for (let n = 0; n < 3000; n += 1) {
      const output =
        n % 7 < 4 ? `Error: no file number ${n % 90} ${'x'.repeat(n % 300)}` : `${'line of text '.repeat(80)} ${n}`;
      await busy.after({ tool: `tool-${n % 40}`, input: { n: n % 500, text: 'y'.repeat(2000) }, output });
    }
    expect(JSON.stringify(busy.state()).length).toBeLessThan(128 * 1024);
  });
});

describe('modes', () => {
  const drive = async (guard: Guard, times: number) => {
    const verdicts: string[] = [];
    for (let n = 0; n < times; n += 1) {
      const before = await guard.before(FAILING);
      verdicts.push(before.verdict);
      if (before.verdict === 'allow' || before.verdict === 'guide') verdicts.push((await guard.after(FAILING)).verdict);
    }
    return verdicts;
  };

  it('observe says nothing and reports everything', async () => {
    const guard = make({ mode: 'observe' });
    expect(new Set(await drive(guard, 40))).toEqual(new Set(['allow', 'continue']));
    expect(guard.report().loops).toMatchObject([
      { level: 'stuck', rule: 'same_call_failing', start: 1, end: 40, repeats: 40, would_stop_at: 3 },
    ]);
    expect(guard.stopped).toBeNull();
  });

  it('guide adds guidance and stops nothing', async () => {
    const guard = make({ mode: 'guide' });
    const verdicts = await drive(guard, 40);
    expect(verdicts.slice(0, 8)).toEqual([
      'allow',
      'continue',
      'allow',
      'continue',
      'allow',
      'guide',
      'guide',
      'guide',
    ]);
    expect(new Set(verdicts.slice(6))).toEqual(new Set(['guide']));
    expect(guard.stopped).toBeNull();
  });

  it('enforce stops at the call that inspect names, and denies the same call afterwards', async () => {
    const guard = make();
    expect(await drive(guard, 5)).toEqual(['allow', 'continue', 'allow', 'continue', 'allow', 'stop', 'deny', 'deny']);
    expect(guard.stopped).toMatchObject({
      would_stop_at: 3,
      progress: 'A success of the call, or a successful change before the next try.',
    });
    const denied = await guard.before(FAILING);
    expect(denied.text).toContain('This call was not run');
    expect((await guard.before({ ...FAILING, input: { path: 'b.txt' } })).verdict).toBe('allow');
  });

  it('enforce asks if the policy says so, and a message of a person starts every count again', async () => {
    const guard = make({ policy: { reruns: { on_guard: 'ask_human' } } });
    expect(await drive(guard, 4)).toEqual(['allow', 'continue', 'allow', 'continue', 'allow', 'ask', 'ask']);
    guard.userMessage();
    expect(guard.stopped).toBeNull();
    expect(await drive(guard, 2)).toEqual(['allow', 'continue', 'allow', 'continue']);
    expect(guard.report().loops).toHaveLength(1);
  });

  it('a policy sets the mode and the numbers, and an invalid one is refused with its path', async () => {
    const guard = make({ policy: { mode: 'guide', loops: { ignore_tools: ['read_file'] } } });
    expect(guard.mode).toBe('guide');
    expect(new Set(await drive(guard, 10))).toEqual(new Set(['allow', 'continue']));
    expect(() => make({ policy: { loops: { same_eror: 3 } } as never })).toThrow(
      /\$\.policy\.loops\.same_eror.*same_error/,
    );
  });
});

describe('wrap', () => {
  it('adds guidance to the end of the failed call, keeps its error, and stops', async () => {
    const guard = make();
    const cause = new RangeError('disk 7 is full');
    let ran = 0;
    const write = guard.wrap(
      (_path: string) => {
        ran += 1;
        throw cause;
      },
      { tool: 'save', effect: 'idempotent' },
    );
    await expect(write('a')).rejects.toBe(cause);
    await expect(write('b')).rejects.toBe(cause);
    const third: unknown = await write('c').catch((error: unknown) => error);
    expect(third).toMatchObject({ name: 'RangeError', cause });
    expect((third as Error).message).toMatch(/^disk 7 is full\n\n\[secondwind\] 3 calls .* Progress would be: /);
    const fourth: unknown = await write('d').catch((error: unknown) => error);
    expect(fourth).toBeInstanceOf(GuardStopError);
    expect(fourth).toMatchObject({
      verdict: 'stop',
      tool: 'save',
      cause,
      loop: { rule: 'same_error', would_stop_at: 4 },
    });
    expect(ran).toBe(4);
  });

  it('adds guidance to texts, objects and content parts, and leaves other results alone', async () => {
    for (const [result, told] of [
      ['the same', expect.stringMatching(/^the same\n\n\[secondwind\] /) as string],
      [{ rows: [] }, { rows: [], guidance: expect.stringContaining('[secondwind]') as string }],
      [
        { content: [{ type: 'text', text: 'x' }] },
        {
          content: [
            { type: 'text', text: 'x' },
            { type: 'text', text: expect.stringContaining('[secondwind]') as string },
          ],
        },
      ],
      [[7], [7]],
    ] as const) {
      const look = make({ mode: 'guide' }).wrap(() => Promise.resolve<unknown>(result), {
        tool: 'look',
        effect: 'read',
      });
      for (let n = 0; n < 2; n += 1) expect(await look({})).toEqual(result);
      expect(await look({})).toEqual(told);
    }
  });
});

describe('errors inside the guard', () => {
  it('let every call through and are logged once', async () => {
    const lines: string[] = [];
    const guard = make({ log: (line) => lines.push(line) });
    const input = {
      get path(): string {
        throw new Error('this getter is broken');
      },
    };
    const look = guard.wrap((_input: object) => Promise.resolve('read'), { tool: 'look' });
    for (let n = 0; n < 20; n += 1) expect(await look(input)).toBe('read');
    expect(lines).toEqual([expect.stringMatching(/clerk.*this getter is broken.*go through/)]);
  });

  it('a state of another version is not used, and that is logged', async () => {
    for (const state of [{ version: 0 }, 'x', { version: 1, watch: { calls: 1 } }]) {
      const lines: string[] = [];
      const guard = make({ state, log: (line) => lines.push(line) });
      expect((await guard.after(FAILING)).verdict).toBe('continue');
      expect(lines).toHaveLength(1);
    }
  });
});
