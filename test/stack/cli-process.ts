/** The command line as a process of its own, with the settings of this one left out. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { onTestFinished } from 'vitest';

const MAIN = fileURLToPath(new URL('../../src/cli/main.ts', import.meta.url));
const CLEAN = /^(?:SECONDWIND_(?!CACHE_DIR$)|TEMPORAL_(?!CLI_PATH$)|DATABASE_URL$)/;

export interface Command {
  pid: number;
  stdout(): string;
  stderr(): string;
  /** Resolves with the first line of stdout that matches; rejects when the command ends before. */
  line(pattern: RegExp): Promise<RegExpExecArray>;
  signal(signal: NodeJS.Signals): void;
  exited: Promise<number | null>;
}

export function startCommand(args: string[], env: NodeJS.ProcessEnv = {}): Command {
  const inherited = Object.fromEntries(Object.entries(process.env).filter(([name]) => !CLEAN.test(name)));
  const child = spawn(process.execPath, ['--import', 'tsx', MAIN, ...args], { env: { ...inherited, ...env } });
  let [stdout, stderr] = ['', ''];
  child.stdout.on('data', (chunk: Buffer) => (stdout += chunk.toString()));
  child.stderr.on('data', (chunk: Buffer) => (stderr += chunk.toString()));
  const exited = once(child, 'close').then(([code]) => code as number | null);
  onTestFinished(async () => {
    child.kill('SIGKILL');
    await exited;
  });
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

export async function runCommand(args: string[], env: NodeJS.ProcessEnv = {}) {
  const command = startCommand(args, env);
  const code = await command.exited;
  return { code, stdout: command.stdout(), stderr: command.stderr() };
}
