/** Stacks of a single test, in their own processes, and what the system knows about them. */
import type { ChildProcess } from 'node:child_process';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, readdirSync, readlinkSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { onTestFinished } from 'vitest';
import type { StackErrorData } from '../../src/stack/stack-error.ts';
import type { StackOptions } from '../../src/stack/start-stack.ts';
import type { StackFile } from '../../src/stack/keeper/stack-file.ts';
import { program } from './programs.ts';

export interface ReadyStack {
  temporalAddress: string;
  databaseUrl: string;
  uiUrl?: string;
  searchAttributes: boolean;
  ms: number;
}

interface Line {
  progress?: string;
  ready?: ReadyStack;
  error?: StackErrorData;
  exited?: StackErrorData | 'stopped';
}

export class StackParent {
  readonly child: ChildProcess;
  readonly progress: string[] = [];
  readonly ready: Promise<ReadyStack>;
  readonly exited: Promise<StackErrorData | 'stopped' | 'killed'>;
  readonly #waiting: { text: string; found: () => void }[] = [];

  constructor(options: Omit<StackOptions, 'progress'>) {
    const env = { ...process.env, TEMPORAL_ADDRESS: '', DATABASE_URL: '', TEMPORAL_NAMESPACE: '', ...options.env };
    const args = [program('test/support/stack-parent.ts'), JSON.stringify({ ...options, env })];
    this.child = spawn(process.execPath, args, { stdio: ['pipe', 'pipe', 'inherit'] });
    const { stdout } = this.child;
    if (!stdout) throw new Error('The parent was started without a pipe.');
    const lines = createInterface({ input: stdout });
    let outcome: StackErrorData | 'stopped' | 'killed' = 'killed';
    this.ready = new Promise((resolve, reject) => {
      lines.on('line', (text) => {
        const line: Line = JSON.parse(text);
        if (line.progress) this.#heard(line.progress);
        if (line.ready) resolve(line.ready);
        outcome = line.exited ?? line.error ?? outcome;
      });
      this.child.once('close', () => reject(new Error(`no stack: ${JSON.stringify(outcome)}`)));
    });
    // A test that expects a failure awaits `exited`.
    this.ready.catch(() => {});
    this.exited = once(this.child, 'close').then(() => outcome);
  }

  /** Resolves when a line of progress contains this text. */
  hears(text: string): Promise<void> {
    if (this.progress.some((line) => line.includes(text))) return Promise.resolve();
    return new Promise((found) => this.#waiting.push({ text, found }));
  }

  async kill(): Promise<void> {
    this.child.kill('SIGKILL');
    await this.exited;
  }

  async stop(): Promise<void> {
    this.child.stdin?.write('stop\n');
    await this.exited;
  }

  #heard(line: string): void {
    this.progress.push(line);
    for (const { text, found } of this.#waiting) if (line.includes(text)) found();
  }
}

/** Ended with the test, however the test ends. */
export function startParent(options: Omit<StackOptions, 'progress'>): StackParent {
  const parent = new StackParent(options);
  onTestFinished(() => parent.kill());
  return parent;
}

export function temporaryFolder(name: string): string {
  const folder = mkdtempSync(join(tmpdir(), `secondwind-test-${name}-`));
  onTestFinished(async () => {
    await processesUsing(folder).untilNone(10_000);
    rmSync(folder, { recursive: true, force: true });
  });
  return folder;
}

export function readStackJson(dataDir: string): StackFile {
  return JSON.parse(readFileSync(join(dataDir, 'stack.json'), 'utf8'));
}

/** Keeper, Temporal, Postgres and its backends all have this folder as their working directory. Linux only. */
export function processesUsing(folder: string): { list(): number[]; untilNone(ms: number): Promise<number> } {
  const list = (): number[] => pids().filter((pid) => `${workingDirectory(pid)}/`.startsWith(`${folder}/`));
  const untilNone = async (ms: number): Promise<number> => {
    const began = Date.now();
    while (list().length > 0 && Date.now() - began < ms) await new Promise((resolve) => setTimeout(resolve, 20));
    return Date.now() - began;
  };
  return { list, untilNone };
}

/** The pid of the process whose command line contains all of these words. */
export function pidOf(...words: string[]): number | undefined {
  return pids().find((pid) => {
    const command = readOrEmpty(`/proc/${pid}/cmdline`);
    return words.every((word) => command.includes(word));
  });
}

function pids(): number[] {
  return readdirSync('/proc').flatMap((name) => (/^\d+$/.test(name) ? [Number(name)] : []));
}

function workingDirectory(pid: number): string {
  try {
    return readlinkSync(`/proc/${pid}/cwd`);
  } catch {
    return '';
  }
}

function readOrEmpty(path: string): string {
  try {
    return readFileSync(path, 'utf8').replaceAll('\0', ' ');
  } catch {
    return '';
  }
}
