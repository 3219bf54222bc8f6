import { existsSync } from 'node:fs';
import { chmod, open, readdir, rm } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { StackError } from '../stack-error.ts';
import { findErrorLine, openLog } from '../machine/log-file.ts';
import { LOOPBACK, answersOnPort } from '../machine/ports.ts';
import type { StopSteps } from '../machine/process-group.ts';
import { ProcessGroup } from '../machine/process-group.ts';
import { waitUntilAnswering } from '../machine/wait-until.ts';
import { writeWholeFile } from '../machine/write-whole-file.ts';
import type { RunAs } from '../machine/run-as.ts';
import { commandAs } from '../machine/run-as.ts';
import type { SearchAttributeTypes } from '../types.ts';

const START_LIMIT_MS = 60_000;

/** Measured on 2 cores: 100 ms per step and 1 run/s without these settings, 15 ms and 10 runs/s with them. */
const SQLITE_PRAGMAS = ['journal_mode=WAL', 'synchronous=NORMAL'];
const DYNAMIC_CONFIG = [
  'history.transferProcessorMaxPollRPS=2000',
  'history.timerProcessorMaxPollRPS=2000',
  'history.visibilityProcessorMaxPollRPS=500',
  // Otherwise a timer of 10 ms takes a second.
  'history.timerProcessorMaxTimeShift="10ms"',
  'system.enableActivityEagerExecution=true',
  'matching.numTaskqueueReadPartitions=1',
  'matching.numTaskqueueWritePartitions=1',
];

interface DevServerOptions {
  cli: string;
  runAs: RunAs;
  dataDir: string;
  namespace: string;
  searchAttributes: SearchAttributeTypes;
  env: NodeJS.ProcessEnv;
}

export interface DevServerPorts {
  grpc: number;
  ui?: number;
}

/** An orderly shutdown takes 1.5 s. A kill loses nothing, because SQLite's journal is already in the kernel's cache. */
export const TEMPORAL_STOP: StopSteps = [{ signal: 'SIGINT', graceMs: 3_000 }];

export function databaseFile(dataDir: string): string {
  return join(dataDir, 'temporal.db');
}

/**
 * Starts the server and returns when it listens. A taken port is reported with an error of its own, so that the caller
 * can try another port.
 */
export async function startDevServer(options: DevServerOptions, ports: DevServerPorts): Promise<ProcessGroup> {
  await discardIncompleteDatabase(options.dataDir);
  await makePrivate(options.dataDir);
  const log = openLog(join(options.dataDir, 'logs', 'temporal.log'));
  try {
    const { command, args } = commandAs(options.runAs, options.cli, devServerArguments(options, ports));
    const group = await ProcessGroup.start(command, args, {
      cwd: options.dataDir,
      env: cleanEnv(options.env),
      stdio: ['ignore', log.fd, log.fd],
      umask: 0o077,
    });
    const ask = (): Promise<boolean> => answersOnPort(LOOPBACK, ports.grpc, 1_000);
    const outcome = await waitUntilAnswering(group, ask, START_LIMIT_MS);
    if (outcome === 'answering') {
      await markComplete(options.dataDir);
      return group;
    }
    group.kill();
    throw startFailure(outcome, log.recent(), options.dataDir);
  } finally {
    log.close();
  }
}

/** An earlier version, or another program, may have made the files of the database readable for others. */
async function makePrivate(dataDir: string): Promise<void> {
  const names = await readdir(dataDir);
  const files = names.filter((name) => name.startsWith(basename(databaseFile(dataDir))));
  await Promise.all(files.map((name) => chmod(join(dataDir, name), 0o600)));
}

function devServerArguments(options: DevServerOptions, ports: DevServerPorts): string[] {
  return [
    'server',
    'start-dev',
    '--db-filename',
    databaseFile(options.dataDir),
    '--ip',
    LOOPBACK,
    '--port',
    String(ports.grpc),
    '--log-level',
    'error',
    ...(ports.ui === undefined ? ['--headless'] : ['--ui-port', String(ports.ui)]),
    ...(options.namespace === 'default' ? [] : ['--namespace', options.namespace]),
    ...SQLITE_PRAGMAS.flatMap((pragma) => ['--sqlite-pragma', pragma]),
    ...DYNAMIC_CONFIG.flatMap((value) => ['--dynamic-config-value', value]),
    ...Object.entries(options.searchAttributes).flatMap(([name, type]) => ['--search-attribute', `${name}=${type}`]),
  ];
}

/**
 * The server creates its schema only if the file is missing. If it was killed while doing so, the file is unusable. It
 * contains nothing that was acknowledged, so it is deleted.
 */
async function discardIncompleteDatabase(dataDir: string): Promise<void> {
  const file = databaseFile(dataDir);
  // The marker of a file that was moved away says nothing about the next one.
  if (!existsSync(file)) await rm(completeMarker(dataDir), { force: true });
  if (!existsSync(file) || existsSync(completeMarker(dataDir))) return;
  await Promise.all(['', '-wal', '-shm'].map((suffix) => rm(`${file}${suffix}`, { force: true })));
}

/** The tables are on the disk before the marker is, because a power cut could otherwise leave a marker without them. */
async function markComplete(dataDir: string): Promise<void> {
  if (existsSync(completeMarker(dataDir))) return;
  const files = ['', '-wal'].map((suffix) => `${databaseFile(dataDir)}${suffix}`).filter((file) => existsSync(file));
  for (const file of files) {
    const handle = await open(file, 'r+');
    try {
      await handle.sync();
    } finally {
      await handle.close();
    }
  }
  await writeWholeFile(completeMarker(dataDir), '');
}

function completeMarker(dataDir: string): string {
  return `${databaseFile(dataDir)}.made`;
}

/** A profile or an address meant for other servers must not affect ours. */
function cleanEnv(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(env).filter(([name]) => !name.startsWith('TEMPORAL_')));
}

/** What SQLite says about a file that is no database, or not all of one. */
const DAMAGED = /file is not a database|database disk image is malformed|no such table: \w+/;

function startFailure(outcome: 'exited' | 'timeout', log: string, dataDir: string): StackError {
  const nextStep = `Look at ${join(dataDir, 'logs', 'temporal.log')}, and start again.`;
  if (/address already in use/i.test(log)) {
    return new StackError('port_taken', 'A port for Temporal is taken by another program.', nextStep);
  }
  const damage = DAMAGED.exec(log)?.[0];
  if (damage !== undefined) {
    return new StackError(
      'temporal_failed',
      `The Temporal database ${databaseFile(dataDir)} is damaged (${damage}).`,
      'Restore it from a backup, or move every file temporal.db* out of the folder: the next start makes a new one, open runs are lost, and ended runs stay in Postgres.',
    );
  }
  const why = outcome === 'timeout' ? `does not answer after ${START_LIMIT_MS / 1000} s` : 'ended while starting';
  // The reason is at the end of a long chain of "could not build arguments for".
  return new StackError('temporal_failed', `Temporal ${why}: ${findErrorLine(log).slice(-200)}`, nextStep);
}
