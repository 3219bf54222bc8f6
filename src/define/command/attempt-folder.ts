import { mkdir, mkdtemp, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ToolError } from '../tool-error.ts';

/** A temporary folder of one attempt, so that files of earlier attempts cannot be mistaken for its own. */
export interface AttemptFolder {
  reportDir: string;
  /** Writes a new file and returns its path. */
  write(name: string, text: string): Promise<string>;
  remove(): Promise<void>;
}

const PREFIX = 'secondwind-attempt-';
const OLD_MS = 24 * 60 * 60_000;

/**
 * Removes the folders of attempts whose process has ended. A folder is also removed after a day, in case its process id
 * belongs to another program now.
 */
export async function removeLeftAttemptFolders(now: number = Date.now()): Promise<void> {
  const names = await readdir(tmpdir()).catch(() => []);
  for (const name of names.filter((each) => each.startsWith(PREFIX))) {
    const folder = join(tmpdir(), name);
    const pid = Number(/^secondwind-attempt-(?<pid>\d+)-/.exec(name)?.groups?.['pid']);
    const isOld = await stat(folder).then(
      ({ mtimeMs }) => now - mtimeMs > OLD_MS,
      () => false,
    );
    if (isOld || (pid > 0 && !isAlive(pid))) await rm(folder, { recursive: true, force: true }).catch(() => undefined);
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // EPERM: it is there, and belongs to another user.
    return error instanceof Error && 'code' in error && error.code === 'EPERM';
  }
}

export async function openAttemptFolder(): Promise<AttemptFolder> {
  try {
    // The name says whose it is, because a process that is killed cannot remove it.
    const folder = await mkdtemp(join(tmpdir(), `${PREFIX}${process.pid}-`));
    const reportDir = join(folder, 'reports');
    await mkdir(reportDir, { mode: 0o700 });
    return {
      reportDir,
      write: async (name, text) => {
        const path = join(folder, name);
        await writeFile(path, text, { mode: 0o600, flag: 'wx' });
        return path;
      },
      remove: () => rm(folder, { recursive: true, force: true }).catch(() => undefined),
    };
  } catch (cause) {
    const how = { category: 'unknown_error', code: 'NO_WORK_FOLDER', certainty: 'not_started', cause } as const;
    throw new ToolError(`cannot create a folder for the attempt in ${tmpdir()}`, how);
  }
}
