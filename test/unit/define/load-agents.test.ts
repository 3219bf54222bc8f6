/** Folders of agents, as files on disk that Node itself loads. That TypeScript files load too is test/stack/cli-agents. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { defineAgent } from '../../../src/define/define-agent.ts';
import { loadAgents } from '../../../src/define/load-agents.ts';

async function folderWith(files: Record<string, string>): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'secondwind-agents-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
  return folder;
}

const tool = (name: string): string => `{ name: '${name}', run: () => 1, manifest: { name: '${name}' } }`;
const agent = (name: string, tools = ''): string => `{ name: '${name}', tools: [${tools}] }`;

describe('a folder of agents', () => {
  it('gives every agent that its files export, by default or by name, and those that are there anyway', async () => {
    const folder = await folderWith({
      'a.mjs': `export default ${agent('first')}`,
      'b.mjs': `const same = ${agent('second')}; export { same as one, same as default }; export const x = ${agent('third')}`,
      'shared.mjs': `export const tool = ${tool('look')}; export const LIMIT = 7`,
      'notes.md': 'not an agent',
      'types.d.ts': 'export {}',
      'a.test.mjs': 'throw new Error("a test is no agent")',
      '_draft.mjs': 'throw new Error("not yet")',
    });
    mkdirSync(join(folder, 'deeper.mjs-not'));
    const { agents } = await loadAgents(folder, [defineAgent({ name: 'demo', tools: [] })]);
    expect([...agents.keys()]).toEqual(['demo', 'first', 'second', 'third']);
  });

  it('is one agent where two files export the same one', async () => {
    const folder = await folderWith({
      'a.mjs': `export default ${agent('first')}`,
      'index.mjs': `export { default as first } from './a.mjs'`,
    });
    expect([...(await loadAgents(folder)).agents.keys()]).toEqual(['first']);
  });

  const tooled = (name: string) => `export default ${agent(name, tool('look'))}`;
  it.each<[string, Record<string, string>, RegExp, RegExp]>([
    ['nothing in it', {}, /There is no agent in .*no \.ts, \.js or \.mjs file/, /Export one/],
    ['no agent in it', { 'a.mjs': 'export const x = 1' }, /There is no agent in .*looked in a\.mjs/, /Export one/],
    [
      'a file that throws',
      { 'a.mjs': 'throw new Error("no key")' },
      /^a\.mjs cannot be loaded: no key/,
      /Mend the file/,
    ],
    ['a file that lacks another', { 'a.mjs': 'import "./nowhere.mjs"' }, /^a\.mjs cannot be loaded: /, /Mend the file/],
    [
      'two agents of one name',
      { 'a.mjs': `export default ${agent('x')}`, 'b.mjs': `export default ${agent('x')}` },
      /The agent x is defined in a\.mjs and in b\.mjs/,
      /another name/,
    ],
    [
      'the name of a built-in',
      { 'a.mjs': `export default ${agent('demo')}` },
      /demo is defined in Secondwind/,
      /another/,
    ],
    [
      'a tool that is none',
      { 'a.mjs': `export default ${agent('x', '{ name: "y" }')}` },
      /agent x .* a\.mjs/,
      /defineTool/,
    ],
    [
      'two tools of one name',
      { 'a.mjs': tooled('x'), 'b.mjs': tooled('y') },
      /tools are named look/,
      /Mend the agents/,
    ],
  ])('with %s is refused, by file and with what to do', async (_what, files, message, nextStep) => {
    const refused = loadAgents(await folderWith(files), [defineAgent({ name: 'demo', tools: [] })]);
    await expect(refused).rejects.toMatchObject({
      code: 'bad_usage',
      message: expect.stringMatching(message),
      nextStep: expect.stringMatching(nextStep),
    });
  });

  it('that is not there is refused', async () => {
    await expect(loadAgents('/no/such/folder')).rejects.toThrow('/no/such/folder cannot be read (ENOENT)');
  });
});
