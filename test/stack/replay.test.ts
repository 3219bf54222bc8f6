/**
 * Every kept history is replayed against today's workflow code: what was decided then is decided again. Needs the bundle
 * that the global setup made, no server. Proves nothing about paths that no kept history takes; record more with
 * `npx tsx scripts/record-histories.ts`.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { Worker } from '@temporalio/worker';
import { DeterminismViolationError } from '@temporalio/workflow';
import { describe, expect, it } from 'vitest';
import { createDataConverter } from '../../src/client/data-converter.ts';
import '../support/quiet-runtime.ts';
import { workflowBundlePath } from '../support/stack.ts';

const FOLDER = new URL('../replay/histories/', import.meta.url);
const files = readdirSync(FOLDER).filter((name) => name.endsWith('.json'));
const textOf = (file: string): string => readFileSync(new URL(file, FOLDER), 'utf8');

interface KeptHistory {
  events: { eventType: string; activityTaskScheduledEventAttributes?: { activityType: { name: string } } }[];
}
const historyOf = (file: string): KeptHistory => JSON.parse(textOf(file)) as KeptHistory;
const named = (what: string): string => {
  const file = files.find((name) => name.startsWith(`${what}-`));
  if (file === undefined) throw new Error(`There is no kept history ${what}.`);
  return file;
};

const replay = (history: unknown): Promise<void> =>
  Worker.runReplayHistory(
    { workflowBundle: { codePath: workflowBundlePath() }, dataConverter: createDataConverter() },
    history,
    'agent-run/kept',
  );

describe('a kept history', () => {
  it.each(files)('%s is decided again as it was then', async (file) => {
    await expect(replay(historyOf(file))).resolves.toBeUndefined();
  });

  it('exists for each thing that later code could break', () => {
    const kept = [...new Set(files.map((name) => name.replace(/(-\d+)?-\d{4}-\d\d-\d\d\.json$/, '')))];
    expect(kept.sort()).toEqual([
      'answered-by-signal',
      'bad-messages',
      'cancelled',
      'corrected-by-update',
      'edited-approval',
      'guard-asked',
      'handed-over',
      'paid-once',
      'parallel',
      'planner',
      'reconciled',
      'remembers',
      'retries',
      'stuck',
      'sub-runs',
      'three-steps',
    ]);
    expect(files.filter((name) => name.startsWith('handed-over')).length).toBeGreaterThan(1);
  });

  it.each(files)('%s names no machine, user or folder', (file) => {
    const text = textOf(file);
    const payloads = [...text.matchAll(/"data": "([A-Za-z0-9+/=]+)"/g)].map((match) => match[1] ?? '');
    const whole = [text, ...payloads.map((data) => Buffer.from(data, 'base64').toString())].join('\n');
    expect(whole).not.toMatch(/\d+@[A-Za-z]/);
    expect(whole).not.toMatch(/(?:file:\/\/|(?<![\w.])\/(?:work|home|root|tmp|Users|var|opt|usr)\/)/);
  });
});

describe('a history that today’s code would not have made is found out', () => {
  it('when another activity had been called', async () => {
    const history = historyOf(named('retries'));
    const call = history.events.find((event) => event.activityTaskScheduledEventAttributes !== undefined);
    if (call?.activityTaskScheduledEventAttributes === undefined) throw new Error('no activity in this history');
    call.activityTaskScheduledEventAttributes.activityType.name = 'tool.other';
    await expect(replay(history)).rejects.toThrow(DeterminismViolationError);
  });
});
