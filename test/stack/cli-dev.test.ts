/** `secondwind dev` as a person starts it: a process of its own with a stack of its own. Needs the binaries in the cache. */
import { mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { processesUsing, readStackJson, temporaryFolder } from '../support/own-stack.ts';
import { runCommand, startCommand } from './cli-process.ts';

describe.skipIf(process.platform !== 'linux')('secondwind dev', () => {
  it(
    'dev starts everything, prints the addresses, refuses a second start, and stops with one Ctrl-C',
    { timeout: 180_000 },
    async () => {
      const dataDir = temporaryFolder('dev');
      const dev = startCommand(['dev', '--no-demo', '--port', '0', '--data-dir', dataDir]);
      const ready = await dev.line(/^ready (http:\S+)$/);
      const url = ready[1] ?? '';
      const seconds = /^Ready (\S+ s) after/m.exec(dev.stdout())?.[1];
      console.log(`secondwind dev was ready after ${seconds}`);
      expect(seconds).toBeDefined();

      const token = readFileSync(join(dataDir, 'token'), 'utf8').trim();
      expect(statSync(join(dataDir, 'token')).mode & 0o777).toBe(0o600);
      expect(dev.stdout()).toContain(`curl -s ${url}/v1/runs -H 'Authorization: Bearer ${token}'`);
      expect(dev.stdout()).toContain(`${url}/#token=${token}`);

      const headers = { authorization: `Bearer ${token}` };
      const body = JSON.stringify({ agent: 'demo', goal: 'try it', policy: { retry: { base_ms: 1 } } });
      expect((await fetch(`${url}/readyz`)).status).toBe(200);
      expect((await fetch(`${url}/v1/runs`, { method: 'POST', body })).status).toBe(401);
      const started = await fetch(`${url}/v1/runs`, { method: 'POST', headers, body });
      expect(started.status).toBe(201);
      await expect
        .poll(async () => (await fetch(`${url}${started.headers.get('location')}`, { headers })).json(), {
          timeout: 60_000,
        })
        .toMatchObject({ state: 'ended', outcome: 'completed' });

      const port = new URL(url).port;
      const owner = `process ${dev.pid} (its keeper is ${readStackJson(dataDir).pid})`;
      for (const flags of [
        ['--port', '0'],
        ['--port', port],
      ]) {
        const second = await runCommand(['dev', '--no-demo', '--data-dir', dataDir, ...flags]);
        expect(second.code).toBe(1);
        expect(second.stderr).toContain(owner);
        expect(second.stderr).toContain(url);
        expect(second.stdout).toBe('');
      }

      dev.signal('SIGINT');
      expect(await dev.exited).toBe(0);
      expect(processesUsing(dataDir).list()).toEqual([]);
      expect(readStackJson(dataDir).state).toBe('stopped');
    },
  );

  it(
    'dev exits with 1 when its stack has failed for good, and SIGTERM stops it like Ctrl-C',
    { timeout: 180_000 },
    async () => {
      const dataDir = temporaryFolder('dev-dies');
      const dev = startCommand(['dev', '--no-demo', '--port', '0', '--data-dir', dataDir, '--json']);
      const [line] = await dev.line(/^\{.*\}$/);
      expect(JSON.parse(line ?? '')).toMatchObject({
        event: 'ready',
        url: expect.stringMatching(/^http:/),
        ms: expect.any(Number),
        token_file: join(dataDir, 'token'),
      });
      process.kill(readStackJson(dataDir).pid, 'SIGKILL');
      expect(await dev.exited).toBe(1);
      expect(dev.stderr()).toContain('The keeper process of the stack has ended unexpectedly. Start the stack again.');
      await processesUsing(dataDir).untilNone(10_000);
      expect(processesUsing(dataDir).list()).toEqual([]);

      const again = startCommand(['dev', '--no-demo', '--port', '0', '--data-dir', dataDir]);
      await again.line(/^ready /);
      again.signal('SIGTERM');
      expect(await again.exited).toBe(0);
      expect(processesUsing(dataDir).list()).toEqual([]);
    },
  );

  it('dev starts nothing when its port is taken', async () => {
    const server = createServer().listen(0, '127.0.0.1');
    onTestFinished(() => void server.close());
    await new Promise((resolve) => server.once('listening', resolve));
    const { port } = server.address() as AddressInfo;
    const dataDir = temporaryFolder('dev-port');
    const { code, stderr } = await runCommand(['dev', '--port', String(port), '--data-dir', dataDir]);
    expect(code).toBe(1);
    expect(stderr.trim()).toBe(
      `Port ${port} on 127.0.0.1 is taken by another program. ` +
        'Stop that program, or choose another port with --port or SECONDWIND_PORT.',
    );
    expect(processesUsing(dataDir).list()).toEqual([]);
  });

  it(
    'dev says in one line what is wrong with its folder, its settings or its servers',
    { timeout: 60_000 },
    async () => {
      const folder = temporaryFolder('dev-bad');
      writeFileSync(join(folder, 'file'), '');
      mkdirSync(join(folder, 'data'));
      const dataDir = join(folder, 'data');
      const bad: [string[], NodeJS.ProcessEnv, number, string][] = [
        [['--data-dir', join(folder, 'file', 'x')], {}, 1, 'SECONDWIND_DATA_DIR'],
        [['--data-dir', dataDir], { TEMPORAL_ADDRESS: '127.0.0.1:1' }, 3, 'TEMPORAL_ADDRESS'],
        [['--data-dir', dataDir], { DATABASE_URL: 'postgres://me:pw@127.0.0.1:1/x' }, 3, 'DATABASE_URL'],
        [['--data-dir', dataDir], { SECONDWIND_TOKNE: 'x' }, 2, 'SECONDWIND_TOKEN?'],
        [['--port', 'many'], {}, 2, '--port'],
      ];
      for (const [flags, env, code, hint] of bad) {
        const ended = await runCommand(['dev', '--port', '0', ...flags], env);
        expect(ended).toMatchObject({ code, stderr: expect.stringContaining(hint) });
        expect(ended.stderr.trim().split('\n')).toHaveLength(1);
      }
    },
  );
});
