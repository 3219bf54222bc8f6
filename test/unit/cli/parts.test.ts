import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { describeError } from '../../../src/cli/report-error.ts';
import { Parts } from '../../../src/cli/serve/parts.ts';
import { ownGrants } from '../../../src/cli/serve/token-file.ts';
import { NotReachableError, RunExistsError } from '../../../src/protocol/errors.ts';
import { ConfigError } from '../../../src/cli/config/read-config.ts';
import { StackError } from '../../../src/stack/stack-error.ts';

describe('the end of a command', () => {
  const partsThatNote = (ended: string[], stuck: string[] = []): Parts => {
    const parts = new Parts(() => {});
    for (const name of ['stack', 'store', 'client', 'worker', 'api'] as const) {
      parts.add(name, () => {
        ended.push(name);
        return stuck.includes(name) ? new Promise(() => {}) : Promise.resolve();
      });
    }
    return parts;
  };

  it('a command stops its API first and its stack last, in whatever order they started', async () => {
    const ended: string[] = [];
    await partsThatNote(ended).stop(new AbortController().signal);
    expect(ended).toEqual(['api', 'worker', 'client', 'store', 'stack']);
  });

  it('a command stops its stack at once on a second signal', async () => {
    const ended: string[] = [];
    const hurry = new AbortController();
    setTimeout(() => hurry.abort(), 10);
    await partsThatNote(ended, ['worker']).stop(hurry.signal);
    expect(ended).toEqual(['api', 'worker', 'stack']);
  });

  it('a command keeps stopping its services if one of them fails to stop', async () => {
    const said: string[] = [];
    const parts = new Parts((line) => said.push(line));
    const ended: string[] = [];
    parts.add('client', () => Promise.reject(new Error('no')));
    parts.add('stack', async () => ended.push('stack'));
    await parts.stop(new AbortController().signal);
    expect(ended).toEqual(['stack']);
    expect(said.join()).toContain('client');
  });
});

describe('exit codes', () => {
  it.each([
    [3, new NotReachableError('Temporal', 'Start it.')],
    [3, new StackError('temporal_unreachable', 'Gone.', 'Start it.', { exitCode: 3 })],
    [3, Object.assign(new Error('Postgres is gone.'), { code: 'STORE_UNREACHABLE' })],
    [2, new ConfigError('Wrong.', 'Correct it.')],
    [1, new StackError('folder_in_use', 'Taken.', 'Choose another.')],
    [1, new RunExistsError('one')],
    [1, new TypeError('a bug')],
  ])('the exit code is %i for %s', (code, error) => {
    expect(describeError(error).exit_code).toBe(code);
  });
});

describe("the operator's token", () => {
  const folder = (): string => {
    const made = mkdtempSync(join(tmpdir(), 'secondwind-token-'));
    onTestFinished(() => rmSync(made, { recursive: true, force: true }));
    return made;
  };

  it('the operator token is created once, stored, and readable only by its owner', async () => {
    const dataDir = folder();
    const first = await ownGrants([], dataDir);
    const again = await ownGrants([{ role: 'viewer', token: 'eyes' }], dataDir);
    expect(again.operatorToken).toBe(first.operatorToken);
    expect(again.grants).toHaveLength(2);
    expect(first.operatorToken.length).toBeGreaterThanOrEqual(32);
    expect(statSync(join(dataDir, 'token')).mode & 0o777).toBe(0o600);
  });

  it('the operator token becomes readable only by its owner, and is created again if its file is empty', async () => {
    const dataDir = folder();
    writeFileSync(join(dataDir, 'token'), '\n', { mode: 0o644 });
    const { operatorToken } = await ownGrants([], dataDir);
    expect(operatorToken).not.toBe('');
    expect((await ownGrants([], dataDir)).operatorToken).toBe(operatorToken);
    expect(statSync(join(dataDir, 'token')).mode & 0o777).toBe(0o600);
  });

  it('an operator token of the environment leaves the data folder unchanged', async () => {
    const dataDir = folder();
    expect(await ownGrants([{ role: 'operator', token: 'boss' }], dataDir)).toMatchObject({ file: null });
    expect(() => statSync(join(dataDir, 'token'))).toThrow('ENOENT');
  });
});
