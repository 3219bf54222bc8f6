import { createHash, randomBytes } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { chmod, chown, lchown, lstat, mkdir, readdir, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { StackError } from '../stack-error.ts';
import { findErrorLine } from '../machine/log-file.ts';
import { runCommand } from '../machine/run-command.ts';
import { writeWholeFile } from '../machine/write-whole-file.ts';
import type { PostgresBinaries } from './binaries.ts';
import type { RunAs } from '../machine/run-as.ts';
import { commandAs } from '../machine/run-as.ts';

export const POSTGRES_USER = 'secondwind';
export const POSTGRES_DATABASE = 'secondwind';

/** A place for binaries and data that the unprivileged user can read. It cannot read a data folder below /root. */
export const SHARED_HOME = '/var/lib/secondwind';

/** Both places where a cluster of this data folder can be. Used to find processes that were left running. */
export function clusterFolders(dataDir: string, sharedHome = SHARED_HOME): { own: string; shared: string } {
  const id = createHash('sha256').update(dataDir).digest('hex').slice(0, 16);
  return { own: join(dataDir, 'postgres'), shared: join(sharedHome, 'clusters', id) };
}

/**
 * The arguments by which processes on the cluster of this data folder are found: those of the server, and those of an
 * initdb whose keeper was killed and which would otherwise write into the folder of the next one.
 */
export function clusterArguments(dataDir: string): string[] {
  const folders = Object.values(clusterFolders(dataDir));
  return [...folders, ...folders.map(initdbArgument)];
}

const scratchFolder = (folder: string): string => `${folder}.making`;
const initdbArgument = (folder: string): string => `--pgdata=${join(scratchFolder(folder), 'data')}`;

/** An existing cluster stays where it is. A new one is created where its user can read it. */
export function chooseClusterFolder(dataDir: string, runAs: RunAs): string {
  const { own, shared } = clusterFolders(dataDir);
  if (existsSync(own)) return own;
  return existsSync(shared) || runAs.kind === 'user' ? shared : own;
}

/**
 * Creates the database files unless they exist. Existing files are complete, because they were put in place by a
 * rename.
 */
export async function prepareCluster(options: {
  folder: string;
  password: string;
  binaries: PostgresBinaries;
  runAs: RunAs;
  env: NodeJS.ProcessEnv;
  durable: boolean;
  progress: (line: string) => void;
}): Promise<void> {
  const { folder, runAs } = options;
  if (!existsSync(folder)) {
    options.progress('Postgres: creating a new database');
    await makeCluster(options);
  }
  await changeOwner(folder, runAs);
}

/** The password is created once and stored beside the data, readable only by its owner. */
export async function clusterPassword(dataDir: string): Promise<string> {
  const file = join(dataDir, 'postgres.password');
  if (existsSync(file)) {
    await chmod(file, 0o600);
    return readFileSync(file, 'utf8').trim();
  }
  const password = randomBytes(24).toString('base64url');
  await writeWholeFile(file, `${password}\n`);
  return password;
}

async function makeCluster(options: Parameters<typeof prepareCluster>[0]): Promise<void> {
  const { folder, runAs, binaries, env } = options;
  const scratch = scratchFolder(folder);
  // Left by a process that was killed while it created the cluster.
  await rm(scratch, { recursive: true, force: true });
  if (runAs.kind === 'user') await makeReachable(dirname(scratch));
  await mkdir(join(scratch, 'data'), { recursive: true, mode: 0o700 });
  const passwordFile = join(scratch, 'password');
  await writeFile(passwordFile, options.password, { mode: 0o600 });
  await changeOwner(scratch, runAs);
  const { command, args, ...user } = commandAs(runAs, binaries.initdb, [
    initdbArgument(folder),
    `--username=${POSTGRES_USER}`,
    `--pwfile=${passwordFile}`,
    '--auth=scram-sha-256',
    '--encoding=UTF8',
    // With `C` or the builtin provider, pg_trgm ignores Japanese. macOS has no C.UTF-8 before version 15.
    `--locale=${process.platform === 'darwin' ? 'en_US.UTF-8' : 'C.UTF-8'}`,
    ...(options.durable ? [] : ['--no-sync']),
  ]);
  const result = await runCommand(command, args, { ...user, cwd: '/', env });
  if (!result.ok) {
    throw new StackError(
      'postgres_failed',
      `A new Postgres database could not be made: ${findErrorLine(result.output).slice(0, 300)}`,
      'Mend the cause, or set DATABASE_URL to an own Postgres.',
    );
  }
  await rename(join(scratch, 'data'), folder);
  await rm(scratch, { recursive: true, force: true });
}

/** Makes our own folders readable, whatever root's umask is. Folders above SHARED_HOME are not changed. */
async function makeReachable(folder: string): Promise<void> {
  await mkdir(folder, { recursive: true });
  for (let path = folder; path.startsWith(SHARED_HOME); path = dirname(path)) await chmod(path, 0o755);
}

/** Postgres starts only on files of its own user, and root may have run it as another user before. */
async function changeOwner(folder: string, runAs: RunAs): Promise<void> {
  if (process.getuid?.() !== 0) return;
  const [uid, gid] = runAs.kind === 'user' ? [runAs.uid, runAs.gid] : [0, process.getgid?.() ?? 0];
  if ((await lstat(folder)).uid === uid) return;
  // The folder itself comes last, so that an interrupted change of owner is repeated.
  for (const entry of await readdir(folder, { recursive: true })) await lchown(join(folder, entry), uid, gid);
  await chown(folder, uid, gid);
}
