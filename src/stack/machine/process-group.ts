import type { ChildProcess, StdioOptions } from 'node:child_process';
import { spawn } from 'node:child_process';
import { once } from 'node:events';

export interface GroupOptions {
  cwd?: string;
  env?: NodeJS.ProcessEnv;
  stdio: StdioOptions;
  uid?: number;
  gid?: number;
  /** For the files that the program makes. */
  umask?: number;
}

export interface GroupExit {
  code: number | null;
  signal: NodeJS.Signals | null;
}

/** Signals to send, each with the time to wait before the next one. SIGKILL is always the last. */
export type StopSteps = readonly { signal: NodeJS.Signals; graceMs: number }[];

const running = new Set<ProcessGroup>();
let closed = false;

/** A program in its own process group. A Ctrl-C in the terminal does not reach it, and the whole group can be ended. */
export class ProcessGroup {
  readonly pid: number;
  readonly child: ChildProcess;
  readonly exited: Promise<GroupExit>;
  #gone = false;

  private constructor(child: ChildProcess, pid: number) {
    this.child = child;
    this.pid = pid;
    running.add(this);
    this.exited = new Promise((resolve) => {
      child.once('exit', (code, signal) => {
        this.#gone = true;
        running.delete(this);
        resolve({ code, signal });
      });
    });
  }

  static async start(command: string, args: readonly string[], options: GroupOptions): Promise<ProcessGroup> {
    if (closed) throw new Error('This process is ending, so it cannot start other processes.');
    const { umask, ...spawning } = options;
    // A child inherits the mask of its parent, and there is no other way to give it one.
    const before = umask === undefined ? null : process.umask(umask);
    const child = spawn(command, args, { ...spawning, detached: true });
    if (before !== null) process.umask(before);
    if (child.pid === undefined) {
      const [error]: unknown[] = await once(child, 'error');
      throw error;
    }
    // Later errors are failed kills of a process that has just ended, which `exit` reports too.
    child.on('error', () => {});
    return new ProcessGroup(child, child.pid);
  }

  get gone(): boolean {
    return this.#gone;
  }

  /** Signals only the leader, because it stops its own children in the right order (Postgres and its backends). */
  signalLeader(signal: NodeJS.Signals): void {
    if (!this.#gone) this.child.kill(signal);
  }

  async stop(steps: StopSteps): Promise<void> {
    for (const { signal, graceMs } of steps) {
      if (this.#gone) break;
      this.signalLeader(signal);
      if (await settlesWithin(this.exited, graceMs)) break;
    }
    this.kill();
    await this.exited;
  }

  /** Kills the whole group, including processes that outlived the leader. */
  kill(): void {
    try {
      process.kill(-this.pid, 'SIGKILL');
    } catch {
      // ESRCH: no process is left.
    }
  }
}

/**
 * Kills all groups before this process ends, so that nothing it started outlives it. No group can be started after
 * that.
 */
export function killAllGroups(): void {
  closed = true;
  for (const group of running) group.kill();
}

export async function settlesWithin(promise: Promise<unknown>, ms: number): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<false>((resolve) => {
    timer = setTimeout(resolve, ms, false);
  });
  try {
    return await Promise.race([promise.then(() => true as const), timeout]);
  } finally {
    clearTimeout(timer);
  }
}
