/** `secondwind proxy` as a process. Needs nothing. */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { afterEach, describe, expect, it } from 'vitest';
import { program } from '../../support/programs.ts';
import { serveUpstream, type TestUpstream } from '../../support/upstream.ts';

const open: TestUpstream[] = [];
afterEach(async () => {
  await Promise.all(open.splice(0).map((upstream) => upstream.close()));
});

const run = (...args: string[]) => {
  const { status, stderr } = spawnSync(process.execPath, [program('src/cli/main.ts'), 'proxy', ...args], {
    encoding: 'utf8',
  });
  return { status, stderr };
};

// Each command is a process of its own, and the machine may be busy.
describe('secondwind proxy', { timeout: 60_000 }, () => {
  it('says where it listens, passes requests, says what it changed without texts, and ends on a signal', async () => {
    const upstream = await serveUpstream((request, response) => void response.end(request.body));
    open.push(upstream);
    const args = ['proxy', '--upstream', upstream.url, '--port', '0', '--json'];
    const child = spawn(process.execPath, [program('src/cli/main.ts'), ...args], { stdio: ['ignore', 'pipe', 'pipe'] });
    const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
    const nextLine = async () => JSON.parse(String((await lines.next()).value)) as Record<string, unknown>;
    const ready = await nextLine();
    expect(ready).toEqual({ event: 'ready', url: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+$/), mode: 'guide' });
    const messages = Array.from({ length: 3 }, (_, n) => [
      { role: 'assistant', tool_calls: [{ id: `c${n}`, function: { name: 'build', arguments: '{}' } }] },
      { role: 'tool', tool_call_id: `c${n}`, content: 'Error: secret sk-inside' },
    ]).flat();
    const headers = { authorization: 'Bearer sk-header' };
    const body = JSON.stringify({ model: 'm', messages });
    const answer = await fetch(`${String(ready['url'])}/v1/chat/completions`, { method: 'POST', headers, body });
    expect(await answer.text()).toContain('[secondwind] The same call failed 3 times.');
    const note = await nextLine();
    expect(note).toMatchObject({ event: 'guided', rule: 'same_call_failing', calls: 3 });
    expect(JSON.stringify(note)).not.toContain('sk-');
    child.kill('SIGTERM');
    expect(await once(child, 'exit')).toEqual([0, null]);
  });

  it('refuses an invalid upstream, mode or port, with exit code 2', async () => {
    expect(run('--port', '0')).toMatchObject({ status: 2, stderr: expect.stringContaining('--upstream') });
    expect(run('--upstream', 'ftp://x')).toMatchObject({ status: 2, stderr: expect.stringContaining('ftp://x') });
    expect(run('--upstream', 'https://me:pw@host/v1').stderr).not.toContain('pw');
    const good = ['--upstream', 'http://127.0.0.1:1'];
    expect(run(...good, '--mode', 'loud')).toMatchObject({ status: 2, stderr: expect.stringContaining('loud') });
    expect(run(...good, '--port', '99999')).toMatchObject({ status: 2 });
    const taken = await serveUpstream(() => undefined);
    open.push(taken);
    expect(run(...good, '--port', new URL(taken.url).port)).toMatchObject({
      status: 2,
      stderr: expect.stringContaining('EADDRINUSE'),
    });
  });
});
