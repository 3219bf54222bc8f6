import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
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

export async function openAttemptFolder(): Promise<AttemptFolder> {
  try {
    const folder = await mkdtemp(join(tmpdir(), 'secondwind-attempt-'));
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
