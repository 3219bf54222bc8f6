/** LoopBench on a small corpus of our own making. The figures on real transcripts are in docs/loopbench.md. */
import { execFile } from 'node:child_process';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { drawCurve } from '../../../bench/loopbench/curve.ts';
import { geminiCli, openHands, openRouter, secondwind } from '../../../bench/loopbench/detectors.ts';
import { readCorpus } from '../../../bench/loopbench/read-corpus.ts';
import { scoreAlarms, shareOf } from '../../../bench/loopbench/score.ts';
import { OWN_TRANSCRIPTS } from '../core/stuck/own-transcripts.ts';

const corpus = (): string => {
  const folder = mkdtempSync(join(tmpdir(), 'loopbench-'));
  const lines = OWN_TRANSCRIPTS.map(({ name, calls, stuck }) => {
    const at = (stuck?.at ?? 1) - 1;
    const last = calls.length - 1;
    return {
      id: `own__${name}`,
      format: 'own',
      label: {
        stuck: stuck === null ? 'no' : 'yes',
        at: stuck === null ? null : at,
        at_range: stuck === null ? null : [at - 1, at + 1],
        episodes: stuck === null ? [] : [[at, last]],
        wasted_after: stuck === null ? null : last - at,
        kind: stuck?.rule ?? 'none',
      },
      steps: calls.map(({ tool, input, output, error, after_user }) => ({
        tool,
        input: JSON.stringify(input),
        output: typeof output === 'string' ? output : JSON.stringify(output),
        error: error ?? false,
        ...(after_user === true && { user_before: 'go on' }),
      })),
    };
  });
  writeFileSync(join(folder, 'stuck.jsonl'), lines.map((line) => `${JSON.stringify(line)}\n`).join(''));
  return folder;
};

describe('LoopBench', () => {
  it('finds every stuck run of our own set, at its labelled step, and raises no false alarm', () => {
    const { transcripts, uncertain } = readCorpus(corpus());
    const alarms = transcripts.map(({ calls }) => secondwind()(calls));
    expect(uncertain).toBe(0);
    expect(scoreAlarms(transcripts, alarms, 'stuck')).toMatchObject({
      recall: { share: 1 },
      falseAlarms: { count: 0 },
      saved: { share: 1 },
      medianDelay: 0,
      early: 0,
    });
  });

  it('counts the steps after the alarm and inside an episode as saved', () => {
    const { transcripts } = readCorpus(corpus());
    const stuck = transcripts.filter(({ label }) => label.isStuck).slice(0, 1);
    const wasted = stuck[0]?.label.wasted ?? 0;
    const late = scoreAlarms(stuck, [{ suspect: null, stuck: (stuck[0]?.label.at ?? 0) + 1 }], 'stuck');
    expect(late.saved).toMatchObject({ count: wasted - 1, of: wasted });
    expect(late.medianDelay).toBe(1);
    expect(scoreAlarms(stuck, [{ suspect: null, stuck: null }], 'stuck').recall.share).toBe(0);
  });

  it('restates the others: four equal calls, three calls of one tool, five in a row', () => {
    const call = { tool: 'ls', input: 'a', output: 'b', error: false };
    const other = { tool: 'cat', input: 'c', output: 'd', error: false };
    expect(openHands([call, call, call, call]).stuck).toBe(3);
    expect(openRouter([call, other, call, other, call]).stuck).toBe(4);
    expect(geminiCli([call, call, call, call]).stuck).toBeNull();
    expect(geminiCli([call, call, call, call, call]).stuck).toBe(4);
  });

  it('gives an interval that contains the share and stays inside 0 and 1', () => {
    for (const [count, of] of [
      [0, 113],
      [57, 64],
      [64, 64],
    ] as const) {
      const { low, share, high } = shareOf(count, of);
      expect(low).toBeLessThanOrEqual(share);
      expect(high).toBeGreaterThanOrEqual(share);
      expect(low >= 0 && high <= 1).toBe(true);
    }
    expect(drawCurve([{ name: 'a', recall: 0.5, precision: 1 }], [])).toContain('<polyline points="340,20"');
  });

  it('prints figures with the names of the contract, exits 1 for a missed bar and 2 without a corpus', async () => {
    const run = promisify(execFile);
    const main = [join('node_modules', 'tsx', 'dist', 'cli.mjs'), join('bench', 'loopbench', 'main.ts')];
    // It exits 1: three failed tries before another way are a suspicion, which is one false alarm of eight here.
    const missed = run(process.execPath, [...main, '--corpus', corpus(), '--quick', '--json']);
    const { code, stdout } = await missed.then(
      (ended) => ({ ...ended, code: 0 }),
      (error: unknown) => error as { code: number; stdout: string },
    );
    const { ok, figures } = JSON.parse(stdout.trim().split('\n').at(-1) ?? '') as Record<string, unknown>;
    expect({ ok, code }).toEqual({ ok: false, code: 1 });
    expect(figures).toMatchObject({
      stuck_recall: 1,
      stuck_false_alarms: 0,
      suspect_recall: 1,
      suspect_false_alarms: 1 / 8,
      saved_share: 1,
      median_delay: 0,
    });
    await expect(run(process.execPath, main)).rejects.toMatchObject({ code: 2 });
  });
});
