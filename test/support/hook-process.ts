/** Calls `secondwind hook` as an agent does: as a process, with one event on stdin. Needs a project with a global setup. */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { program } from './programs.ts';

export interface HookRun {
  status: number | null;
  stdout: string;
  stderr: string;
}

const settings = (home: string) => ({ ...process.env, HOME: home, SECONDWIND_DATA_DIR: `${home}/data` });

/** Runs `secondwind hook ...` with the home folder of a test. */
export const hookCli = (home: string, input: string, ...args: string[]): HookRun => {
  const { status, stdout, stderr } = spawnSync(process.execPath, [program('src/cli/main.ts'), 'hook', ...args], {
    encoding: 'utf8',
    input,
    cwd: home,
    env: settings(home),
  });
  return { status, stdout, stderr };
};

/** The same without waiting, so that several run at once. */
export const startHookCli = async (home: string, input: string, ...args: string[]): Promise<HookRun> => {
  const child = spawn(process.execPath, [program('src/cli/main.ts'), 'hook', ...args], {
    cwd: home,
    env: settings(home),
  });
  child.stdin.end(input);
  const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')]);
  return { status: child.exitCode, stdout, stderr };
};
