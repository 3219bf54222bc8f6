import { rm } from 'node:fs/promises';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Client } from 'pg';
import { StackError, errnoOf } from '../stack-error.ts';
import { findErrorLine, openLog } from '../machine/log-file.ts';
import { LOOPBACK } from '../machine/ports.ts';
import type { StopSteps } from '../machine/process-group.ts';
import { ProcessGroup } from '../machine/process-group.ts';
import { waitUntilAnswering } from '../machine/wait-until.ts';
import { POSTGRES_DATABASE, POSTGRES_USER } from './cluster.ts';
import type { RunAs } from '../machine/run-as.ts';
import { commandAs } from '../machine/run-as.ts';

/** Long, because after a power cut Postgres first replays its journal. */
const START_LIMIT_MS = 120_000;

const MEMORY_HELD = /shared memory block .*still in use/;
const MEMORY_LIMIT_MS = 10_000;
const MEMORY_POLL_MS = 200;

/**
 * SIGINT is the fast shutdown, as `pg_ctl stop -m fast` sends it. SIGQUIT ends at once, and the journal is replayed at
 * the next start.
 */
export const POSTGRES_STOP: StopSteps = [
  { signal: 'SIGINT', graceMs: 10_000 },
  { signal: 'SIGQUIT', graceMs: 1_000 },
];
/** Used when the parent has already ended: everything is stopped within 5 s. */
export const POSTGRES_HURRIED_STOP: StopSteps = [
  { signal: 'SIGINT', graceMs: 3_000 },
  { signal: 'SIGQUIT', graceMs: 700 },
];

export interface PostgresServerOptions {
  program: string;
  folder: string;
  dataDir: string;
  password: string;
  runAs: RunAs;
  settings: Record<string, string>;
  env: NodeJS.ProcessEnv;
}

export function databaseUrl(password: string, port: number, database = POSTGRES_DATABASE): string {
  return `postgres://${POSTGRES_USER}:${password}@${LOOPBACK}:${port}/${database}`;
}

/** Starts the server in the foreground (without pg_ctl in between) and returns when it answers a query. */
export async function startPostgres(options: PostgresServerOptions, port: number): Promise<ProcessGroup> {
  const deadline = Date.now() + MEMORY_LIMIT_MS;
  for (;;) {
    try {
      return await startOnce(options, port);
    } catch (error) {
      // The backends of a killed server end by themselves within a moment, and hold its memory until then.
      const held = error instanceof StackError && MEMORY_HELD.test(error.message);
      if (!held || Date.now() > deadline) throw error;
      await new Promise((resolve) => setTimeout(resolve, MEMORY_POLL_MS));
    }
  }
}

async function startOnce(options: PostgresServerOptions, port: number): Promise<ProcessGroup> {
  await dropForeignPidFile(options.folder);
  const log = openLog(join(options.dataDir, 'logs', 'postgres.log'));
  try {
    const { command, args, ...user } = commandAs(options.runAs, options.program, serverArguments(options, port));
    const stdio = ['ignore', log.fd, log.fd] as const;
    const group = await ProcessGroup.start(command, args, {
      ...user,
      cwd: '/',
      env: cleanEnv(options.env),
      stdio: [...stdio],
    });
    const ask = (): Promise<boolean> => answersQuery(options.password, port);
    const outcome = await waitUntilAnswering(group, ask, START_LIMIT_MS).catch((error: unknown) => {
      group.kill();
      throw error;
    });
    if (outcome === 'answering') return group;
    group.kill();
    throw startFailure(outcome, log.recent(), options.dataDir);
  } finally {
    log.close();
  }
}

function serverArguments(options: PostgresServerOptions, port: number): string[] {
  const settings = {
    listen_addresses: LOOPBACK,
    port: String(port),
    // The path of a socket can have only 107 bytes, and TCP is needed anyway.
    unix_socket_directories: '',
    log_min_messages: 'warning',
    ...options.settings,
  };
  return ['-D', options.folder, ...Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`])];
}

async function answersQuery(password: string, port: number): Promise<boolean> {
  try {
    await query(databaseUrl(password, port), 'select 1');
    return true;
  } catch (error) {
    // invalid_password: asking again does not help.
    if (errnoOf(error) === '28P01') throw wrongPassword(error);
    // invalid_catalog_name: the server is up, but its database was not created yet.
    if (errnoOf(error) !== '3D000') return false;
    await query(databaseUrl(password, port, 'postgres'), `create database ${POSTGRES_DATABASE}`);
    return true;
  }
}

async function query(connectionString: string, sql: string): Promise<void> {
  const client = new Client({ connectionString, connectionTimeoutMillis: 5_000 });
  // A server that ends in between reports it twice; the first report is enough.
  client.on('error', () => {});
  try {
    await client.connect();
    await client.query(sql);
  } finally {
    await client.end().catch(() => {});
  }
}

/**
 * Removes a lock file that names no process, or a program that is not Postgres. Postgres does not start on an empty lock
 * file, which it leaves if it is killed while it writes the file, or if the pid in the file belongs to any running
 * process, which after a crash may be any program. We own the folder and have ended everything that used it, so a
 * running process with that pid is not Postgres. The file of a dead process stays, because Postgres reads from it
 * whether backends of the dead server still hold its memory.
 */
async function dropForeignPidFile(folder: string): Promise<void> {
  const file = join(folder, 'postmaster.pid');
  const text = readIfThere(file);
  if (text === undefined) return;
  const pid = Number.parseInt(text, 10);
  if (!(pid > 0) || isUsed(pid)) await rm(file, { force: true });
}

function readIfThere(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return undefined;
    throw error;
  }
}

/** Also true for a process of another user, which cannot be signalled. */
function isUsed(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return errnoOf(error) === 'EPERM';
  }
}

const wrongPassword = (cause: unknown): StackError =>
  new StackError(
    'postgres_failed',
    'Postgres refuses the password in the file postgres.password of the data folder.',
    'Restore that file, or choose another folder with SECONDWIND_DATA_DIR.',
    { cause },
  );

/** PGDATA, PGPORT and similar variables are meant for other servers. */
function cleanEnv(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(env).filter(([name]) => !name.startsWith('PG')));
}

function startFailure(outcome: 'exited' | 'timeout', log: string, dataDir: string): StackError {
  const nextStep = `Look at ${join(dataDir, 'logs', 'postgres.log')}, and start again.`;
  if (/address already in use/i.test(log)) {
    return new StackError('port_taken', 'The port for Postgres is taken by another program.', nextStep);
  }
  const why = outcome === 'timeout' ? `does not answer after ${START_LIMIT_MS / 1000} s` : 'ended while starting';
  return new StackError('postgres_failed', `Postgres ${why}: ${findErrorLine(log).slice(0, 300)}`, nextStep);
}
