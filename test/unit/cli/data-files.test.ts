/** Files of the data folder that are not what they should be: named, with what to do. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { connectRemote } from '../../../src/cli/ask/connect-remote.ts';
import { ownGrants } from '../../../src/cli/serve/token-file.ts';
import { readStackFile, writeStackFile } from '../../../src/stack/keeper/stack-file.ts';

function folder(): string {
  const path = mkdtempSync(join(tmpdir(), 'secondwind-test-files-'));
  onTestFinished(() => rmSync(path, { recursive: true, force: true }));
  return path;
}
const REMOVE = expect.stringMatching(/^Remove it\./) as string;

describe('a stack.json', () => {
  it.each([
    ['is no JSON', 'not json', 'its content is not ours'],
    ['is empty', '', 'it is empty'],
    ['is a list', '[]', 'its content is not ours'],
    ['is null', 'null', 'its content is not ours'],
    ['has no ports', '{"version":1,"state":"ready","ports":null}', 'its content is not ours'],
    ['has texts as ports', '{"version":1,"state":"ready","ports":{"temporal":"7233"}}', 'its content is not ours'],
    ['has no address', '{"version":1,"state":"ready","ports":{},"url":"nowhere"}', 'its content is not ours'],
  ])('that %s is named, to whoever asks for the API', async (_what, text, why) => {
    const dataDir = folder();
    const path = join(dataDir, 'stack.json');
    writeFileSync(path, text);
    await expect(connectRemote({ dataDir }, {})).rejects.toMatchObject({
      code: 'bad_stack_file',
      message: `The file ${path} cannot be used: ${why}.`,
      nextStep: REMOVE,
    });
  });

  it('that is a folder is named, also to whoever writes it', async () => {
    const dataDir = folder();
    mkdirSync(join(dataDir, 'stack.json'));
    expect(() => readStackFile(dataDir)).toThrow('it is a folder');
    const file = { version: 1, state: 'ready', pid: 1, process_start: '', parent_pid: 1, started_at: '' } as const;
    await expect(writeStackFile(dataDir, { ...file, ports: {} })).rejects.toMatchObject({
      code: 'bad_stack_file',
      message: expect.stringContaining('it is a folder'),
      nextStep: REMOVE,
    });
  });

  it('that is not there is nothing to tell', () => {
    expect(readStackFile(folder())).toBeUndefined();
  });
});

describe('a token file', () => {
  it.each([
    ['is a folder', (path: string) => mkdirSync(path), 'it is a folder'],
    ['has two lines', (path: string) => writeFileSync(path, 'one\ntwo\n'), 'does not contain a token'],
    ['has bytes of another kind', (path: string) => writeFileSync(path, Buffer.from([0, 255])), 'not contain a token'],
  ])('that %s is named, to whoever serves and to whoever asks', async (_what, make, why) => {
    const dataDir = folder();
    make(join(dataDir, 'token'));
    const named = { code: 'bad_setting', message: expect.stringContaining(why) as string, nextStep: REMOVE };
    await expect(ownGrants([], dataDir)).rejects.toMatchObject(named);
    await expect(connectRemote({ dataDir }, {})).rejects.toMatchObject(named);
  });

  it('that is empty is written anew', async () => {
    const dataDir = folder();
    writeFileSync(join(dataDir, 'token'), '');
    const { operatorToken } = await ownGrants([], dataDir);
    expect(operatorToken).toMatch(/^[\w-]{32}$/);
  });
});
