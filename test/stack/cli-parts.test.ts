/** `secondwind worker` and `secondwind api` as docker-compose runs them: two processes on a Temporal and a Postgres of others. */
import { spawn } from 'node:child_process';
import { describe, expect, inject, it, onTestFinished } from 'vitest';
import { temporaryFolder } from '../support/own-stack.ts';
import { createTestDatabase } from '../support/stack.ts';
import { commandLine, runCommand, startCommand } from './cli-process.ts';

describe.skipIf(process.platform !== 'linux')('worker and API apart', () => {
  it('worker and api complete a run together, and each stops on SIGTERM', { timeout: 120_000 }, async () => {
    const env = {
      TEMPORAL_ADDRESS: inject('temporalAddress'),
      DATABASE_URL: (await createTestDatabase()).databaseUrl,
      SECONDWIND_DATA_DIR: temporaryFolder('apart'),
      SECONDWIND_TOKEN: 'compose-token',
    };
    const worker = startCommand(['worker'], env);
    // Nobody reads what a second worker says, before and after it is ready; it works all the same.
    const unread = commandLine(['worker'], env);
    const deaf = spawn(unread.command, unread.args, { env: unread.env });
    onTestFinished(() => void deaf.kill('SIGKILL'));
    deaf.stdout.destroy();
    deaf.stderr.destroy();
    const api = startCommand(['api', '--port', '0'], env);
    await worker.line(/^ready worker/);
    const url = (await api.line(/^ready (http:\S+)$/))[1] ?? '';
    const headers = { authorization: 'Bearer compose-token' };
    const body = JSON.stringify({ agent: 'demo', goal: 'together', policy: { retry: { base_ms: 1 } } });
    const started = await fetch(`${url}/v1/runs`, { method: 'POST', headers, body });
    expect(started.status).toBe(201);
    await expect
      .poll(async () => (await fetch(`${url}${started.headers.get('location')}`, { headers })).json(), {
        timeout: 60_000,
      })
      .toMatchObject({ state: 'ended', outcome: 'completed' });
    worker.signal('SIGTERM');
    expect(await worker.exited).toBe(0);
    const again = await fetch(`${url}/v1/runs`, { method: 'POST', headers, body });
    await expect
      .poll(async () => (await fetch(`${url}${again.headers.get('location')}`, { headers })).json(), {
        timeout: 60_000,
      })
      .toMatchObject({ state: 'ended', outcome: 'completed' });
    expect(deaf.exitCode).toBeNull();
    api.signal('SIGTERM');
    expect(await api.exited).toBe(0);
  });

  it('worker and api do not start without Temporal and Postgres', { timeout: 120_000 }, async () => {
    const servers = { TEMPORAL_ADDRESS: inject('temporalAddress'), DATABASE_URL: inject('databaseUrl') };
    const bad: [string[], NodeJS.ProcessEnv, number, string][] = [
      [['worker'], {}, 2, 'TEMPORAL_ADDRESS is not set.'],
      [['worker'], { ...servers, TEMPORAL_ADDRESS: '127.0.0.1:1' }, 3, 'Temporal at 127.0.0.1:1 does not answer'],
      [['api'], { ...servers, DATABASE_URL: 'postgres://me:pw@127.0.0.1:1/x' }, 3, 'Postgres at 127.0.0.1:1/x'],
      [['api', '--host', '0.0.0.0'], servers, 2, 'SECONDWIND_TOKEN'],
      [['api', '--host', '0.0.0.0'], { ...servers, SECONDWIND_TOKEN: 'short' }, 2, '16 characters'],
    ];
    for (const [args, env, code, hint] of bad) {
      expect(await runCommand(args, env)).toMatchObject({ code, stderr: expect.stringContaining(hint) });
    }
  });
});
