/** Agents from a folder, in TypeScript, in real processes: `dev`, and `worker` with `api`. The model is a scripted server. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, inject, it, onTestFinished } from 'vitest';
import { serveScriptedModel } from '../../src/testing.ts';
import { temporaryFolder } from '../support/own-stack.ts';
import { createTestDatabase } from '../support/stack.ts';
import { FROM_SOURCE, runCommand, startCommand } from './cli-process.ts';

const ENTRY = fileURLToPath(new URL('../../src/index.ts', import.meta.url));

function agentsFolder(name: string, files: Record<string, string>): string {
  const folder = join(temporaryFolder(name), 'agents');
  mkdirSync(folder);
  for (const [file, text] of Object.entries(files)) writeFileSync(join(folder, file), text);
  return folder;
}

const greeter = `
import { defineAgent } from ${JSON.stringify(ENTRY)};
const name: string = 'greeter';
export default defineAgent({ name, instructions: 'Greet.', tools: [] });
`;

async function scriptedEnvironment() {
  const server = await serveScriptedModel(() => ({ text: 'Good morning.' }));
  onTestFinished(() => server.close());
  return { OPENAI_BASE_URL: server.url, OPENAI_API_KEY: 'none', MODEL: 'scripted' };
}

async function greets(url: string, token: string): Promise<void> {
  const headers = { authorization: `Bearer ${token}` };
  const body = JSON.stringify({ agent: 'greeter', goal: 'greet' });
  const started = await fetch(`${url}/v1/runs`, { method: 'POST', headers, body });
  expect(started.status).toBe(201);
  await expect
    .poll(async () => (await fetch(`${url}${started.headers.get('location')}`, { headers })).json(), {
      timeout: 60_000,
    })
    .toMatchObject({ state: 'ended', outcome: 'completed', result: { output: 'Good morning.' } });
}

describe.skipIf(process.platform !== 'linux')('agents from a folder', () => {
  it('agents of a folder run under secondwind dev', { timeout: 180_000 }, async () => {
    const folder = agentsFolder('dev-agents', { 'greeter.ts': greeter });
    const dataDir = temporaryFolder('dev-agents-data');
    const flags = ['--no-demo', '--port', '0', '--data-dir', dataDir];
    const dev = startCommand(['dev', folder, ...flags], await scriptedEnvironment(), FROM_SOURCE);
    const url = (await dev.line(/^ready (http:\S+)$/))[1] ?? '';
    expect(dev.stdout()).toMatch(/Agents +demo, greeter\n/);
    await greets(url, readFileSync(join(dataDir, 'token'), 'utf8').trim());
    dev.signal('SIGINT');
    expect(await dev.exited).toBe(0);
  });

  it('agents of a folder run under worker and api', { timeout: 180_000 }, async () => {
    const folder = agentsFolder('apart-agents', { 'greeter.ts': greeter });
    const env = {
      ...(await scriptedEnvironment()),
      TEMPORAL_ADDRESS: inject('temporalAddress'),
      DATABASE_URL: (await createTestDatabase()).databaseUrl,
      SECONDWIND_DATA_DIR: temporaryFolder('apart-agents-data'),
      SECONDWIND_TOKEN: 'compose-token',
    };
    const worker = startCommand(['worker', '--agents', folder], env, FROM_SOURCE);
    const api = startCommand(['api', '--port', '0', '--agents', folder], env, FROM_SOURCE);
    await worker.line(/^ready worker/);
    const url = (await api.line(/^ready (http:\S+)$/))[1] ?? '';
    expect(url).not.toBe('');
    await greets(url, 'compose-token');
  });

  it('unusable agents are reported at once, by file and with the next step, and nothing is started', async () => {
    const dataDir = temporaryFolder('dev-bad-agents');
    const bad: [Record<string, string>, string[]][] = [
      [{}, ['There is no agent in', 'Export an agent']],
      [{ 'broken.ts': 'export default {' }, ['broken.ts cannot be loaded', 'Correct the file']],
      [{ 'a.ts': greeter, 'b.ts': greeter }, ['The agent greeter is defined in a.ts and in b.ts', 'another name']],
    ];
    for (const [files, words] of bad) {
      const { code, stderr, stdout } = await runCommand(
        ['dev', agentsFolder('bad', files), '--data-dir', dataDir],
        {},
        FROM_SOURCE,
      );
      expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
      for (const word of words) expect(stderr).toContain(word);
      expect(stderr).not.toContain('Unexpected');
    }
  }, 120_000);
});
