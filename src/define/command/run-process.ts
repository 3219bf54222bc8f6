import { type ChildProcess, spawn } from 'node:child_process';
import { constants } from 'node:os';
import { findProgram } from './find-program.ts';
import { HeadAndTail } from './head-and-tail.ts';
import type { Isolation } from './process-isolation.ts';

export interface ProcessRequest {
  argv: readonly string[];
  cwd: string;
  env: Record<string, string>;
  stdin: string | Uint8Array | undefined;
  /** The most bytes that are kept of each stream. */
  maxOutputBytes: number;
  isolation: Isolation;
  signal: AbortSignal;
  /** Called right before the program starts. If it throws, nothing is started. */
  beforeStart(): void;
}

export interface ProcessEnd {
  exit_code: number | null;
  signal: string | null;
  stdout: HeadAndTail;
  stderr: HeadAndTail;
  started_at_ms: number;
  ended_at_ms: number;
  /** True if the process was stopped by a signal of ours; its exit code then means nothing. */
  stopped: boolean;
}

/** How long a command has after SIGTERM until it is killed. */
const TERM_GRACE_MS = 2_000;
/** How long to read the streams after the end, because a process that escaped may keep them open. */
const DRAIN_MS = 300;

/**
 * Runs a program in its own process group and ends every process that it leaves behind; with PID namespaces, also those that
 * detached themselves. Throws only if the program cannot be started.
 */
export async function runProcess(request: ProcessRequest): Promise<ProcessEnd> {
  const [name = '', ...args] = request.argv;
  const program = await findProgram(name, request.cwd, request.env['PATH']);
  try {
    request.signal.throwIfAborted();
    request.beforeStart();
  } catch (error) {
    throw Object.assign(error instanceof Error ? error : new Error(String(error)), { certainty: 'not_started' });
  }
  const { isolation } = request;
  const inNamespace = isolation.kind === 'pid_namespace';
  const [command = program, ...rest] = inNamespace ? isolation.wrap([program, ...args]) : [program, ...args];

  const started_at_ms = Date.now();
  const child = spawn(command, rest, {
    cwd: request.cwd,
    env: request.env,
    detached: true,
    stdio: [request.stdin === undefined ? 'ignore' : 'pipe', 'pipe', 'pipe', ...(inNamespace ? ['pipe' as const] : [])],
  });
  const { pid } = child;
  if (pid === undefined) throw await spawnError(child);
  // The process is running now. Later errors are failed kills of a process that has just ended.
  child.on('error', () => undefined);
  const stdout = collect(child, 'stdout', request.maxOutputBytes);
  const stderr = collect(child, 'stderr', request.maxOutputBytes);
  feed(child, request.stdin);

  const closed = new Promise<void>((resolve) => child.once('close', () => resolve()));
  const exited = new Promise<{ code: number | null; signal: string | null }>((resolve) => {
    child.once('exit', (code, signal) => resolve({ code, signal }));
  });
  let killer: NodeJS.Timeout | undefined;
  const stop = (): void => {
    signalGroup(pid, 'SIGTERM');
    killer = setTimeout(() => signalGroup(pid, 'SIGKILL'), TERM_GRACE_MS);
  };
  if (request.signal.aborted) stop();
  else request.signal.addEventListener('abort', stop, { once: true });
  try {
    const { code, signal } = await exited;
    const ended_at_ms = Date.now();
    // Kills what the program left behind in its group.
    signalGroup(pid, 'SIGKILL');
    await Promise.race([closed, new Promise((resolve) => setTimeout(resolve, DRAIN_MS).unref())]);
    const stopped = request.signal.aborted;
    return {
      exit_code: code,
      signal: signal ?? signalOfCode(code),
      stdout,
      stderr,
      started_at_ms,
      ended_at_ms,
      stopped,
    };
  } finally {
    clearTimeout(killer);
    request.signal.removeEventListener('abort', stop);
    for (const stream of child.stdio) stream?.destroy();
  }
}

function spawnError(child: ChildProcess): Promise<Error> {
  return new Promise((resolve) => {
    child.once('error', (error) => resolve(Object.assign(error, { certainty: 'not_started' })));
  });
}

function collect(child: ChildProcess, name: 'stdout' | 'stderr', limit: number): HeadAndTail {
  const held = new HeadAndTail(limit);
  child[name]?.on('data', (chunk: Buffer) => held.push(chunk));
  child[name]?.on('error', () => undefined);
  return held;
}

function feed(child: ChildProcess, stdin: string | Uint8Array | undefined): void {
  // A command may end without reading its stdin.
  child.stdin?.on('error', () => undefined);
  if (stdin !== undefined) child.stdin?.end(stdin);
}

function signalGroup(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(-pid, signal);
  } catch {
    // ESRCH: no process is left in the group.
  }
}

/** A shell reports a command that was killed by a signal as exit code 128 plus the signal. Returns the name of that signal. */
function signalOfCode(code: number | null): string | null {
  if (code === null || code <= 128) return null;
  return Object.entries(constants.signals).find(([, number]) => number === code - 128)?.[0] ?? null;
}
