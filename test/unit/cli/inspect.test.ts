/** `secondwind inspect`: formats, bad input, and what it prints. Real transcripts are not part of the repository. */
import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { inspectStream } from '../../../src/cli/inspect/inspect-file.ts';
import { reportsInFormat } from '../../../src/cli/inspect/reports-in-format.ts';
import { FORMATS } from '../../../src/core/inspect/events.ts';
import { anonymize } from '../../../src/core/inspect/report.ts';
import { DEFAULT_POLICY } from '../../../src/protocol/policy.ts';
import { CALLS, SAMPLES } from './inspect-samples.ts';

async function* inChunks(text: string, size: number): AsyncGenerator<string> {
  for (let at = 0; at < text.length; at += size) yield await Promise.resolve(text.slice(at, at + size));
}
const inspectText = (text: string, size = 1 << 16, price?: number) =>
  inspectStream('post.json', inChunks(text, size), DEFAULT_POLICY.loops, price);
const sample = (format: string): string => SAMPLES[format] ?? '';

describe('every format', () => {
  it('has a sample', () => {
    expect(Object.keys(SAMPLES).toSorted()).toEqual([...FORMATS].toSorted());
  });

  it.each(Object.keys(SAMPLES))(
    '%s is recognized, and the same calls get the same verdict at the same call',
    async (format) => {
      const report = await inspectText(sample(format));
      expect(report).toMatchObject({ format, calls: CALLS.length, problems: [] });
      expect(report.loops).toMatchObject([
        { rule: 'same_call_failing', level: 'stuck', start: 2, end: 6, would_stop_at: 4, repeats: 5 },
      ]);
      expect(report.waste).toMatchObject({ calls: 2, share: 2 / 6, estimated: false });
      expect(report.failures).toMatchObject([
        { count: 5, example: expect.stringContaining('command not found') as string },
      ]);
    },
  );

  it.each(Object.keys(SAMPLES))('%s is read the same in chunks of seven characters', async (format) => {
    expect(await inspectText(sample(format), 7)).toEqual(await inspectText(sample(format)));
  });

  it('a document of more than a megabyte is read element by element', async () => {
    const filler = { role: 'user', content: 'x'.repeat(600_000) };
    const messages = [filler, filler, ...(JSON.parse(sample('openai-chat')) as unknown[])];
    for (const document of [messages, { id: 1, messages, more: { a: [1, 2] } }]) {
      const report = await inspectText(JSON.stringify(document));
      expect(report).toMatchObject({ format: 'openai-chat', calls: CALLS.length, problems: [] });
    }
  });
});

describe('tokens', () => {
  it('are counted once for each message, and cost something only with a price', async () => {
    expect((await inspectText(sample('claude-code'))).waste).toEqual({
      calls: 2,
      share: 2 / 6,
      output_tokens: 20,
      estimated: false,
    });
    expect((await inspectText(sample('claude-code'), 1 << 16, 15)).waste.cost_usd).toBeCloseTo(0.0003);
    expect((await inspectText(sample('openai-chat'), 1 << 16, 15)).waste).toMatchObject({ output_tokens: null });
  });
});

describe('bad input', () => {
  it.each(['claude-code', 'openai-chat', 'swe-agent'])(
    '%s cut at every character is read up to the cut',
    async (format) => {
      const text = sample(format);
      const seen = new Set<number>();
      for (let end = 0; end <= text.length; end += 1) seen.add((await inspectText(text.slice(0, end))).calls);
      expect(Math.max(...seen)).toBe(CALLS.length);
      expect(seen.size).toBe(CALLS.length + 1);
    },
  );

  it('lines that are not JSON, have NUL or an unknown shape are counted and skipped', async () => {
    const text = `not json\n${'\0'.repeat(5)}\n{"a":\n{"version":9,"what":"unknown"}\n42\n${sample('claude-code')}`;
    const report = await inspectText(text);
    expect(report).toMatchObject({ format: 'claude-code', calls: CALLS.length });
    expect(report.problems).toEqual([
      { problem: 'records that are not JSON, skipped', count: 3 },
      { problem: 'records of an unknown shape, skipped', count: 2 },
    ]);
  });

  it('a line of 50 MB is counted and skipped, and what follows is read', async () => {
    async function* chunks(): AsyncGenerator<string> {
      yield '{"type":"summary"}\n{"long":"';
      const part = 'y'.repeat(1 << 20);
      for (let n = 0; n < 50; n += 1) yield await Promise.resolve(part);
      yield `"}\n${sample('claude-code')}`;
    }
    const report = await inspectStream('long.jsonl', chunks(), DEFAULT_POLICY.loops);
    expect(report.calls).toBe(CALLS.length);
    expect(report.problems).toEqual([{ problem: 'records longer than 16 MB, skipped', count: 1 }]);
  });

  it('mixed formats are all read, and an empty or foreign file has no calls', async () => {
    const mixed = await inspectText(sample('claude-code') + sample('pi'));
    expect(mixed.calls).toBe(CALLS.length);
    expect(await inspectText('')).toMatchObject({ format: 'unknown', calls: 0, loops: [] });
    expect(await inspectText('{"hello": [1, 2, {"x": "y"}]}')).toMatchObject({ format: 'unknown', calls: 0 });
  });
});

describe('what is printed', () => {
  it('the terminal shows the strip, the rule, the waste and what was not flagged', async () => {
    const text = reportsInFormat([await inspectText(sample('pi'))], null, {});
    expect(text).toContain('post.json: pi, 6 calls\n  ·!!!██\n');
    expect(text).toContain('stuck: same_call_failing (weigh), calls 2 to 6, a guard steps in after call 4');
    expect(text).toContain('wasted: 2 calls (33 %) after that point, tokens unknown');
  });

  it('the terminal shows calls of a loop as evidence, without secrets', async () => {
    const secret = 'ghp_abcdefghijklmnopqrstuvwxyz0123456789';
    const text = reportsInFormat(
      [await inspectText(sample('pi').replaceAll('weigh parcels', `weigh ${secret}`))],
      null,
      {},
    );
    expect(text).toMatch(/call 2: weigh weigh \[redacted:[^\]]+\] → sh: line 40: weigh: command not found\n/);
    expect(text).toContain('call 4: weigh');
    expect(text).not.toContain(secret);
  });

  it('an exit code alone is not the example of a failure', async () => {
    const text = sample('openai-chat').replaceAll('sh: line', 'Exit code 127\\nsh: line');
    expect((await inspectText(text)).failures).toMatchObject([{ example: 'sh: line 40: weigh: command not found' }]);
  });

  it('several files are summed up', async () => {
    const reports = [await inspectText(sample('pi')), await inspectText(sample('codex')), await inspectText('')];
    expect(reportsInFormat(reports, null, {})).toContain(
      '\n3 files, 12 calls: 2 stuck, 0 suspect, 4 calls wasted (33 %); 1 without calls.\n',
    );
    expect(JSON.parse(reportsInFormat(reports, null, { json: true }))).toMatchObject({
      total: { files: 3, stuck: 2, wasted_calls: 4 },
    });
  });

  it('HTML has one square per call, with the letter of its failure, and marks what came too late', async () => {
    const report = await inspectText(sample('pi'));
    expect(report.strip).toBe('.AAAAA');
    const page = reportsInFormat([report], null, { html: true });
    const squares = [...page.matchAll(/<span class="mark ([^"]+)" title="([^"]+)">(.)<\/span>/g)].slice(0, 6);
    expect(squares.map(([, , , symbol]) => symbol).join('')).toBe('✓AAAAA');
    expect(squares[1]?.[1]).toBe('failed shade-0 stuck');
    expect(squares.at(-1)?.[2]).toBe('Call 6 failed as A, after a guard would have stepped in');
  });

  it('Markdown and HTML escape what the transcript says, and HTML loads nothing', async () => {
    const hostile = sample('pi').replaceAll('weigh', '<script>|`');
    const report = await inspectText(hostile);
    const page = reportsInFormat([report], 'observe', { html: true });
    expect(page).not.toContain('<script>');
    expect(page).not.toMatch(/(?:src|href)=/);
    expect(page).toContain('this policy would only have logged it');
    expect(reportsInFormat([report], null, { markdown: true })).not.toMatch(/<script>|[^\\]\|`/);
  });

  it('an anonymous report has no name of a file or tool and no text of the transcript', async () => {
    const shown = JSON.stringify(anonymize([await inspectText(sample('codex'))]));
    expect(shown).toContain('tool-1');
    expect(shown).not.toMatch(/weigh|post\.json|command not found/);
  });
});

describe('the command', () => {
  const run = promisify(execFile);
  const main = [join('node_modules', 'tsx', 'dist', 'cli.mjs'), join('src', 'cli', 'main.ts'), 'inspect'];
  const folder = mkdtempSync(join(tmpdir(), 'inspect-'));
  const file = join(folder, 'session.jsonl');
  writeFileSync(file, sample('claude-code'));
  const call = (...flags: string[]) =>
    run(process.execPath, [...main, ...flags], {
      // Nothing listens at the proxy, so a network call through it would fail the command.
      env: { ...process.env, HTTPS_PROXY: 'http://127.0.0.1:9', SECONDWIND_URL: 'http://127.0.0.1:9' },
    }).then(
      ({ stdout, stderr }) => ({ code: 0, stdout, stderr }),
      (error: unknown) => error as { code: number; stdout: string; stderr: string },
    );

  it('prints JSON, exits 1 with --fail-on stuck, and says what a policy would have done', async () => {
    const policy = join(folder, 'policy.json');
    writeFileSync(policy, '{"loops": {"same_error": 4}}');
    const { code, stdout } = await call(file, '--json', '--fail-on', 'stuck', '--policy', policy);
    expect(code).toBe(1);
    const { files } = JSON.parse(stdout) as { files: { loops: object[] }[] };
    expect(files[0]?.loops).toMatchObject([
      { would_stop_at: 5, would: 'this policy would have stepped in after call 5' },
    ]);
  });

  it('reads the transcripts in a folder and below it', async () => {
    const below = join(folder, 'old', 'below');
    mkdirSync(below, { recursive: true });
    writeFileSync(join(below, 'a.traj'), sample('swe-agent'));
    writeFileSync(join(below, 'notes.txt'), 'no transcript');
    const { stdout } = await call(join(folder, 'old'), '--json');
    expect(JSON.parse(stdout)).toMatchObject({ files: [{ file: join(below, 'a.traj'), format: 'swe-agent' }] });
  });

  it('names a file that cannot be read, reads the others, and refuses an unknown level', async () => {
    const { code, stdout, stderr } = await call(join(folder, 'missing.json'), file);
    expect({ code, stderr }).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('missing.json cannot be read (ENOENT)') as string,
    });
    expect(stdout).toContain('session.jsonl: claude-code, 6 calls');
    expect((await call(file, '--fail-on', 'loop')).code).toBe(2);
  });
});
