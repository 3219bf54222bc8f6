/** Each of these must end in one sentence, a next step and the right exit code, before anything was started. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeEach, describe, expect, inject, it, onTestFinished } from 'vitest';
import { StackError, startStack } from '../../src/stack/start-stack.ts';
import type { StackOptions } from '../../src/stack/start-stack.ts';
import { cacheDir } from '../../src/stack/machine/cache-dir.ts';
import { choosePort, freePort } from '../../src/stack/machine/ports.ts';
import '../support/provided.ts';

let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'secondwind-test-bad-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
});

async function failureOf(options: Partial<StackOptions>): Promise<StackError> {
  const env = { PATH: process.env['PATH'], HOME: process.env['HOME'] };
  try {
    const stack = await startStack({ dataDir: join(folder, 'data'), env, ...options });
    await stack.stop();
  } catch (error) {
    if (error instanceof StackError) return error;
    throw error;
  }
  throw new Error('it started');
}

/** One sentence, one next step, nothing over several lines. */
function sentence(code: string, exitCode: 1 | 3): object {
  const line = expect.stringMatching(/^[A-Z].*\.$/);
  return { code, exitCode, message: line, nextStep: line };
}

async function takenPort(): Promise<number> {
  const server = createServer((socket) => socket.destroy()).listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  onTestFinished(() => void server.close());
  return (server.address() as AddressInfo).port;
}

describe('a stack does not start', () => {
  it('a stack does not start in a folder that is none', async () => {
    writeFileSync(join(folder, 'file'), '');
    expect(await failureOf({ dataDir: join(folder, 'file', 'data') })).toMatchObject(
      sentence('folder_not_writable', 1),
    );
  });

  it('a stack does not start in a folder that it may not write', async () => {
    expect(await failureOf({ dataDir: '/proc/secondwind' })).toMatchObject(sentence('folder_not_writable', 1));
  });

  it('a stack does not start on a disk that is nearly full', async () => {
    const error = await failureOf({ minFreeBytes: Number.MAX_SAFE_INTEGER });
    expect(error).toMatchObject(sentence('disk_full', 1));
    expect(error.nextStep).toContain('SECONDWIND_DATA_DIR');
  });

  it('a stack does not start when the named Temporal is not there', async () => {
    const temporalAddress = `127.0.0.1:${await freePort()}`;
    const error = await failureOf({ temporalAddress, databaseUrl: inject('databaseUrl') });
    expect(error).toMatchObject(sentence('temporal_unreachable', 3));
    expect(error.message).toContain(temporalAddress);
  });

  it('a stack does not start when something else answers where Temporal should be', async () => {
    const temporalAddress = `127.0.0.1:${await takenPort()}`;
    expect(await failureOf({ temporalAddress, databaseUrl: inject('databaseUrl') })).toMatchObject(
      sentence('temporal_unreachable', 3),
    );
  });

  it('a stack does not start when the named Temporal has no such namespace', async () => {
    const [temporalAddress, databaseUrl] = [inject('temporalAddress'), inject('databaseUrl')];
    const error = await failureOf({ temporalAddress, databaseUrl, temporalNamespace: 'nowhere' });
    expect(error).toMatchObject(sentence('temporal_namespace_missing', 1));
  });

  it('a stack does not start when the named Postgres is not there, and its password stays out of the message', async () => {
    const error = await failureOf({ databaseUrl: `postgres://me:secret@127.0.0.1:${await freePort()}/db` });
    expect(error).toMatchObject(sentence('postgres_unreachable', 3));
    expect(error.message).not.toContain('secret');
  });

  it('a stack does not start when the named Postgres says no', async () => {
    const wrong = new URL(inject('databaseUrl'));
    wrong.password = 'wrong';
    expect(await failureOf({ databaseUrl: wrong.href })).toMatchObject(sentence('postgres_refused', 1));
  });

  it('a stack does not start with a DATABASE_URL that is no address', async () => {
    expect(await failureOf({ databaseUrl: 'not an address' })).toMatchObject(sentence('postgres_refused', 1));
  });

  it('a stack does not start on a port that was named and is taken', async () => {
    const port = await takenPort();
    await expect(choosePort('Temporal', port, undefined)).rejects.toMatchObject(sentence('port_taken', 1));
  });
});

describe('a stack on servers of somebody else', () => {
  it('a stack on servers of somebody else starts nothing, registers search attributes and leaves the retention alone', async () => {
    const [temporalAddress, databaseUrl] = [inject('temporalAddress'), inject('databaseUrl')];
    const env = { TEMPORAL_ADDRESS: temporalAddress, DATABASE_URL: databaseUrl };
    const stack = await startStack({ dataDir: folder, env, searchAttributes: { SecondwindAgent: 'Keyword' } });
    expect(stack).toMatchObject({ temporalAddress, databaseUrl, searchAttributes: true });
    expect(stack.owned).toEqual({ temporal: false, postgres: false });
    await stack.stop();
    expect(await stack.exited).toEqual({ reason: 'stopped' });
  });

  it('a stack on servers of somebody else says so when a search attribute cannot be had, and starts nevertheless', async () => {
    const env = { TEMPORAL_ADDRESS: inject('temporalAddress'), DATABASE_URL: inject('databaseUrl') };
    const stack = await startStack({ dataDir: folder, env, searchAttributes: { SecondwindAgent: 'Int' } });
    expect(stack.searchAttributes).toBe(false);
    await stack.stop();
  });
});

describe('ports and places', () => {
  it('a port that is ours to choose is the one of last time, unless somebody has it now', async () => {
    const [free, taken] = [await freePort(), await takenPort()];
    expect(await choosePort('Temporal', undefined, free)).toBe(free);
    expect(await choosePort('Temporal', undefined, taken)).not.toBe(taken);
  });

  it('binaries are cached where the user says, else where the system keeps such things', () => {
    expect(cacheDir({ SECONDWIND_CACHE_DIR: '/c', XDG_CACHE_HOME: '/x', HOME: '/h' })).toBe('/c');
    expect(cacheDir({ XDG_CACHE_HOME: '/x', HOME: '/h' })).toBe('/x/secondwind');
    expect(cacheDir({ HOME: '/h' }, 'linux')).toBe('/h/.cache/secondwind');
    expect(cacheDir({ HOME: '/h' }, 'darwin')).toBe('/h/Library/Caches/secondwind');
  });

  it('importing the stack loads neither gRPC nor pg', () => {
    const code = `import('./src/stack/start-stack.ts').then(() => console.log(String(Object.keys(require.cache).filter((f) => /grpc|node_modules.pg.lib/.test(f)).length)))`;
    const { stdout } = spawnSync(process.execPath, ['--import', 'tsx', '-e', code], { encoding: 'utf8' });
    expect(stdout.trim()).toBe('0');
  });
});
