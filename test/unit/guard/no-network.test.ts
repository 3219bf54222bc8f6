/** A guard and `inspect` make no network call, asked of fresh Node processes in which every way to the network is a trap. */
import { execFile } from 'node:child_process';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { program } from '../../support/programs.ts';

const TRAP = `import net from 'node:net'; import dns from 'node:dns'; import dgram from 'node:dgram'; import { syncBuiltinESMExports } from 'node:module';
const caught = (what) => () => { console.log('NETWORK ' + what); throw new Error('caught ' + what); };
net.Socket.prototype.connect = caught('connect');
net.connect = net.createConnection = caught('connect');
dns.lookup = dns.resolve = caught('dns'); dns.promises.lookup = dns.promises.resolve = caught('dns');
dgram.createSocket = caught('udp');
globalThis.fetch = caught('fetch');
syncBuiltinESMExports();`;

const runTrapped = async (args: string[]): Promise<string> => {
  const trap = ['--import', `data:text/javascript,${encodeURIComponent(TRAP)}`];
  return (await promisify(execFile)(process.execPath, [...trap, ...args])).stdout;
};

const guardScript = (options: string): string => `
  const { createGuard } = await import(${JSON.stringify(pathToFileURL(program('src/guard.ts')).href)});
  const guard = createGuard({ agent: 'coder', mode: 'guide', log: () => {}, ${options} });
  for (let n = 0; n < 40; n += 1) {
    await guard.before({ tool: 'look', input: {} });
    await guard.after({ tool: 'look', input: {}, error: 'permission denied' });
  }
  console.log('loops ' + guard.report().loops.length);`;

describe('no network call', () => {
  it('by a guard without a server', async () => {
    const said = await runTrapped(['--input-type=module', '-e', guardScript('')]);
    expect(said).toBe('loops 1\n');
  });

  it('would be found out: a guard with a server makes one, and goes on without an answer', async () => {
    const server = "server: { url: 'http://127.0.0.1:9', token: 'x' }";
    const said = await runTrapped(['--input-type=module', '-e', guardScript(server)]);
    expect(said).toContain('NETWORK fetch');
    expect(said).toContain('loops 1');
  });

  it('by inspect', async () => {
    const file = join(mkdtempSync(join(tmpdir(), 'no-network-')), 'chat.json');
    const call = { id: 'a', type: 'function', function: { name: 'look', arguments: '{}' } };
    writeFileSync(
      file,
      JSON.stringify([
        { role: 'assistant', content: null, tool_calls: [call] },
        { role: 'tool', tool_call_id: 'a', content: 'nothing' },
      ]),
    );
    const said = await runTrapped([program('src/cli/main.ts'), 'inspect', file, '--json']);
    expect(JSON.parse(said)).toMatchObject({ files: [{ calls: 1 }] });
  });
});
