/** Errors that a tool loses, in processes of their own: without our handlers Node ends the process. */
import { spawnSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { program } from '../../support/programs.ts';

function lose(kind: string) {
  const { status, stdout, stderr } = spawnSync(process.execPath, [program('test/support/stray-process.ts'), kind], {
    encoding: 'utf8',
  });
  expect([status, stderr]).toEqual([0, '']);
  return JSON.parse(stdout) as { outcome: Record<string, unknown>; logs: string[]; next: Record<string, unknown> };
}

describe('an error that a tool loses', () => {
  it.each(['rejection', 'async function', 'timer', 'emitter', 'callback'])(
    'in a %s fails its attempt, and the process goes on',
    (kind) => {
      const { outcome, logs, next } = lose(kind);
      expect(outcome).toMatchObject({ class: 'failed', message_preview: 'lost by the tool' });
      expect(next).toMatchObject({ class: 'ok', output: 'works' });
      // What belongs to no attempt is logged, and ends nothing either.
      expect(logs).toEqual(['stray_rejection: no attempt']);
    },
  );

  it('after its answer does not change the answer, and is logged', () => {
    const { outcome, logs, next } = lose('after its answer');
    expect(outcome).toMatchObject({ class: 'ok', output: 'done' });
    expect(next).toMatchObject({ class: 'ok' });
    expect(logs.sort()).toEqual(['stray_exception: an attempt that is over', 'stray_rejection: no attempt']);
  });
});
