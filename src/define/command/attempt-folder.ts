import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ToolError } from '../tool-error.ts';

/** A folder of one attempt alone: no file in it can be an earlier attempt's. */
export interface AttemptFolder {
  reportDir: string;
  /** A new file for each attempt: nothing that holds the old one open reads the new one. */
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
    throw new ToolError(`no folder for the attempt can be made in ${tmpdir()}`, how);
  }
}
