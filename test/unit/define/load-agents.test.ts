/** Folders of agents, as files on disk. That they run under our commands is test/stack/cli-agents. */
import { execFile } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import ts from 'typescript';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { defineAgent } from '../../../src/define/define-agent.ts';
import { loadAgents } from '../../../src/define/load/load-agents.ts';

const execute = promisify(execFile);
const ROOT = fileURLToPath(new URL('../../..', import.meta.url));
const LOADER = new URL('../../../src/define/load/load-agents.ts', import.meta.url).href;

async function folderWith(files: Record<string, string>): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'secondwind-agents-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
  return folder;
}

const tool = (name: string): string => `{ name: '${name}', run: () => 1, manifest: { name: '${name}' } }`;
/** As another copy of the package makes it: the folder is on its own and finds none. */
const agent = (name: string, tools = ''): string =>
  `{ name: '${name}', tools: [${tools}], [Symbol.for('secondwind.agent')]: true }`;

/** What a process of its own says, with Node's loader instead of the test runner's. */
async function refusalsOfNode(folders: string[]): Promise<string[]> {
  const script = `
    const { loadAgents } = await import(${JSON.stringify(LOADER)});
    const told = [];
    for (const folder of ${JSON.stringify(folders)}) await loadAgents(folder).catch((error) => told.push(error.message));
    console.log(JSON.stringify(told));`;
  const { stdout } = await execute(process.execPath, ['--import', 'tsx', '--input-type=module', '-e', script]);
  return JSON.parse(stdout) as string[];
}

function compileRoom(room: string, folder: string): void {
  for (const file of readdirSync(join(ROOT, 'src', room), { recursive: true, encoding: 'utf8' })) {
    if (!file.endsWith('.ts')) continue;
    const target = join(folder, room, file.replace(/ts$/, 'js'));
    mkdirSync(dirname(target), { recursive: true });
    const options = {
      module: ts.ModuleKind.ESNext,
      target: ts.ScriptTarget.ES2022,
      rewriteRelativeImportExtensions: true,
      verbatimModuleSyntax: true,
    };
    const source = readFileSync(join(ROOT, 'src', room, file), 'utf8');
    writeFileSync(target, ts.transpileModule(source, { compilerOptions: options }).outputText);
  }
}

/** The loader as a package has it, compiled, in a Node that was not told of any other loader. */
async function compiledLoader(folder: string, args: string[]): Promise<string> {
  const compiled = join(folder, 'define', 'load', 'load-agents.js');
  for (const room of ['define', 'core', 'protocol']) compileRoom(room, folder);
  writeFileSync(join(folder, 'package.json'), '{ "type": "module" }');
  symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
  const script = `
    const { loadAgents } = await import(${JSON.stringify(pathToFileURL(compiled).href)});
    const told = await loadAgents(process.argv[1]).then(({ agents }) => [...agents.keys()].join(), String);
    console.log(told);`;
  const { stdout } = await execute(process.execPath, ['--input-type=module', '-e', script, ...args], {
    env: { ...process.env, NODE_OPTIONS: '' },
  });
  return stdout.trim();
}

describe('a folder of agents in TypeScript, for a Node that may not read it', () => {
  const typed = `const name: string = 'typed';\nexport default ${agent('typed')};\n`;
  const readsIt = Boolean((process.features as { typescript?: unknown }).typescript);

  it('a folder of TypeScript agents is read with the tsx of its own project', { timeout: 60_000 }, async () => {
    const folder = await folderWith({ 'a.ts': typed });
    symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
    const elsewhere = await folderWith({});
    expect(await compiledLoader(elsewhere, [folder])).toBe('typed');
  });

  it(
    'a folder of TypeScript agents is refused with the next step if this Node cannot read it',
    { timeout: 60_000 },
    async () => {
      const folder = await folderWith({ 'a.ts': typed });
      const told = await compiledLoader(await folderWith({}), [folder]);
      expect(told).toMatch(readsIt ? /^typed$/ : /This Node cannot read TypeScript: a\.ts/);
    },
  );
});

describe('a folder of agents', () => {
  it('a folder of agents gives every exported agent, by default or by name, and the built-in ones', async () => {
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

  it('an agent that two files of a folder export counts once', async () => {
    const folder = await folderWith({
      'a.mjs': `export default ${agent('first')}`,
      'index.mjs': `export { default as first } from './a.mjs'`,
    });
    expect([...(await loadAgents(folder)).agents.keys()]).toEqual(['first']);
  });

  it('a folder of agents may export lists and promises', async () => {
    const folder = await folderWith({
      'list.mjs': `export default [${agent('first')}, ${agent('second')}]`,
      'promise.mjs': `export const third = Promise.resolve(${agent('third')})`,
      'both.mjs': `export default Promise.resolve([${agent('fourth')}])`,
    });
    expect([...(await loadAgents(folder)).agents.keys()].toSorted()).toEqual(['first', 'fourth', 'second', 'third']);
  });

  it('a folder of agents warns about exports that look like agents and are not', async () => {
    const folder = await folderWith({
      'a.mjs': `export default ${agent('first')}`,
      'config.mjs': `export const server = { name: 'files', tools: [] }`,
      'maker.mjs': `export default () => (${agent('never')}); export function helper() {}`,
      'mixed.mjs': `export const all = [${agent('second')}, 7]`,
      'shared.mjs': `export default ${tool('look')}; export const LIMIT = 7`,
    });
    const warned: string[] = [];
    const warn = vi.spyOn(process, 'emitWarning').mockImplementation((warning) => void warned.push(String(warning)));
    onTestFinished(() => warn.mockRestore());
    expect([...(await loadAgents(folder)).agents.keys()]).toEqual(['first', 'second']);
    expect(warned).toEqual([
      expect.stringMatching(
        /^config\.mjs exports an object that looks like an agent but was not made by defineAgent as server/,
      ),
      expect.stringMatching(/^maker\.mjs exports a function as default/),
      expect.stringMatching(/^mixed\.mjs exports a list with 1 items that are not agents as all/),
    ]);
  });

  it('the error of a file that cannot be loaded shows the place', { timeout: 60_000 }, async () => {
    const files = {
      'bad.ts': 'export const a: number = 1;\nexport const b = ;\n',
      'bad.mjs': 'export const a = 1;\nexport const b = ;\n',
      'import.mjs': 'import { readFil } from "node:fs";\n',
      'thrown.ts': 'const a: number = 1;\n\nthrow new Error("no key");\n',
    };
    const folders = await Promise.all(Object.entries(files).map(([name, text]) => folderWith({ [name]: text })));
    const [typed, plain, linked, thrown] = await refusalsOfNode(folders);
    expect(typed).toMatch(/^bad\.ts cannot be loaded: Unexpected ";"\n\n\S+bad\.ts:2:18\n/);
    expect(typed).toMatch(/\n> 2 \| export const b = ;\n +\| {18}\^\n/);
    expect(plain).toMatch(/^bad\.mjs cannot be loaded: Unexpected token ';'\n\n\S+bad\.mjs:2\n.*= ;\n {17}\^/);
    expect(linked).toMatch(/an export named 'readFil'\n\n\S+import\.mjs:1\n.*readFil.*\n {9}\^/);
    expect(thrown).toMatch(/^thrown\.ts cannot be loaded: no key\n\n\S+thrown\.ts:3:7\n[^]*\n> 3 \| throw new/);
  });

  it.each(['await new Promise(() => {});', `export default new Promise(() => {});`])(
    'a folder with a file that hangs is refused after a timeout: %s',
    async (text) => {
      const refused = loadAgents(await folderWith({ 'hangs.mjs': text }), [], { fileDeadlineMs: 300 });
      await expect(refused).rejects.toThrow('hangs.mjs is still loading after 0.3 s');
    },
  );

  const tooled = (name: string) => `export default ${agent(name, tool('look'))}`;
  it.each<[string, Record<string, string>, RegExp, RegExp]>([
    ['nothing in it', {}, /There is no agent in .*no \.ts, \.js or \.mjs file/, /Export an agent/],
    [
      'no agent in it',
      { 'a.mjs': 'export const x = 1', 'b.mjs': 'export const make = () => 7' },
      /There is no agent in .*looked in a\.mjs \(x: a number\), b\.mjs \(make: a function\)/,
      /Export an agent/,
    ],
    [
      'a file that throws',
      { 'a.mjs': 'throw new Error("no key")' },
      /^a\.mjs cannot be loaded: no key/,
      /Correct the file/,
    ],
    [
      'a file that lacks another',
      { 'a.mjs': 'import "./nowhere.mjs"' },
      /^a\.mjs cannot be loaded: /,
      /Correct the file/,
    ],
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
      /Correct the agents/,
    ],
  ])('a folder with %s is refused, with the file and the next step', async (_what, files, message, nextStep) => {
    const refused = loadAgents(await folderWith(files), [defineAgent({ name: 'demo', tools: [] })]);
    await expect(refused).rejects.toMatchObject({
      code: 'bad_usage',
      message: expect.stringMatching(message),
      nextStep: expect.stringMatching(nextStep),
    });
  });

  it('a folder that does not exist is refused', async () => {
    await expect(loadAgents('/no/such/folder')).rejects.toThrow('/no/such/folder cannot be read (ENOENT)');
  });
});
