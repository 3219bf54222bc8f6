import { existsSync } from 'node:fs';
import { mkdir, realpath, rm, statfs, writeFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { StackError, errnoOf, messageOf } from '../stack-error.ts';

const DEFAULT_MIN_FREE_BYTES = 200 * 1024 * 1024;

/** Creates the folder and returns its real path, so that two spellings of one folder use the same lock. */
export async function prepareDataDir(dataDir: string, minFreeBytes = DEFAULT_MIN_FREE_BYTES): Promise<string> {
  const folder = await makeWritable(resolve(dataDir));
  await refuseFullDisk(folder, minFreeBytes);
  return folder;
}

async function makeWritable(folder: string): Promise<string> {
  try {
    await makeFolder(folder);
    const real = await realpath(folder);
    // access(2) allows root everything, even on a read-only disk, so the check has to write a file.
    const probe = join(real, `.probe-${process.pid}`);
    await writeFile(probe, 'x');
    await rm(probe);
    return real;
  } catch (error) {
    if (errnoOf(error) === 'ENOSPC') throw diskFull(folder, error);
    throw new StackError(
      'folder_not_writable',
      `The data folder ${folder} cannot be written (${errnoOf(error) ?? messageOf(error)}).`,
      'Give this user the right to write there, or choose another folder with SECONDWIND_DATA_DIR.',
      { cause: error },
    );
  }
}

/**
 * Does not use `recursive: true`, because Node 20 then loops forever if a folder exists but nothing can be created in
 * it (`ENOENT`, as in /proc).
 */
async function makeFolder(folder: string): Promise<void> {
  if (existsSync(folder)) return;
  const above = dirname(folder);
  if (above !== folder) await makeFolder(above);
  // Readable only by its owner, because it holds a database and its password.
  await mkdir(folder, { mode: 0o700 }).catch((error: unknown) => {
    if (errnoOf(error) !== 'EEXIST') throw error;
  });
}

async function refuseFullDisk(folder: string, minFreeBytes: number): Promise<void> {
  const { bavail, bsize } = await statfs(folder);
  if (bavail * bsize < minFreeBytes) throw diskFull(folder);
}

function diskFull(folder: string, cause?: unknown): StackError {
  return new StackError(
    'disk_full',
    `The disk that holds ${folder} is nearly full.`,
    'Free some room, or choose a folder on another disk with SECONDWIND_DATA_DIR.',
    { cause },
  );
}
