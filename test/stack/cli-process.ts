/** The command line as a process of its own, with the settings of this one left out. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { onTestFinished } from 'vitest';
import { program } from '../support/programs.ts';

const CLEAN = /^(?:SECONDWIND_(?!CACHE_DIR$)|TEMPORAL_(?!CLI_PATH$)|(?:DATABASE_URL|FORCE_COLOR|NO_COLOR)$)/;

export interface Command {
  pid: number;
  stdout(): string;
  stderr(): string;
  /** Resolves with the first line of stdout that matches; rejects when the command ends before. */
  line(pattern: RegExp): Promise<RegExpExecArray>;
  signal(signal: NodeJS.Signals): void;
  exited: Promise<number | null>;
}

/** Ended with the test that started it. */
export function startCommand(args: string[], env: NodeJS.ProcessEnv = {}, main?: string[]): Command {
  const command = launch(args, env, main);
  onTestFinished(async () => {
    command.signal('SIGKILL');
    await command.exited;
  });
  return command;
}

/** From the sources, as `npm start` does: needed by agents in TypeScript, and slower to start than the built one. */
export const FROM_SOURCE = ['--import', 'tsx', fileURLToPath(new URL('../../src/cli/main.ts', import.meta.url))];

/** What a process is started with, for those that are started by others. */
export function commandLine(args: string[], env: NodeJS.ProcessEnv = {}, main = [program('src/cli/main.ts')]) {
  const inherited = Object.fromEntries(Object.entries(process.env).filter(([name]) => !CLEAN.test(name)));
  return { command: process.execPath, args: [...main, ...args], env: { ...inherited, ...env } };
}

/** For a whole file: whoever starts it ends it. */
export function launch(given: string[], more: NodeJS.ProcessEnv = {}, main?: string[]): Command {
  const { command, args, env } = commandLine(given, more, main);
  const child = spawn(command, args, { env });
  let [stdout, stderr] = ['', ''];
  child.stdout.on('data', (chunk: Buffer) => (stdout += chunk.toString()));
  child.stderr.on('data', (chunk: Buffer) => (stderr += chunk.toString()));
  const exited = once(child, 'close').then(([code]) => code as number | null);
  const line = (pattern: RegExp): Promise<RegExpExecArray> =>
    new Promise((resolve, reject) => {
      const look = (): void => {
        const found = stdout
          .split('\n')
          .slice(0, -1)
          .map((text) => pattern.exec(text))
          .find((match) => match !== null);
        if (found) resolve(found);
      };
      child.stdout.on('data', look);
      look();
      void exited.then((code) => reject(new Error(`ended with ${code} before: ${stderr}`)));
    });
  return {
    pid: child.pid ?? 0,
    stdout: () => stdout,
    stderr: () => stderr,
    line,
    signal: (signal) => void child.kill(signal),
    exited,
  };
}

export async function runCommand(args: string[], env: NodeJS.ProcessEnv = {}, main?: string[]) {
  const command = startCommand(args, env, main);
  const code = await command.exited;
  return { code, stdout: command.stdout(), stderr: command.stderr() };
}
