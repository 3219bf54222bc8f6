import { randomBytes } from 'node:crypto';
import { link, mkdir, open, rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';

/** Some file systems have no hard links. */
const NO_LINKS = new Set(['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EMLINK']);

/**
 * Creates a file that only its owner can read, unless there is one. The file gets its name with its whole content on
 * the disk, so that a process that is killed in between leaves no file or a complete one.
 *
 * @returns false if there is such a file; it is not changed
 */
export async function createSecretFile(path: string, text: string): Promise<boolean> {
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  const unfinished = `${path}.${process.pid}-${randomBytes(4).toString('hex')}.new`;
  try {
    await writeAndSync(unfinished, text);
    const created = await giveName(unfinished, path);
    if (created) await syncFolder(dirname(path));
    return created;
  } finally {
    await rm(unfinished, { force: true }).catch(() => {});
  }
}

async function writeAndSync(path: string, text: string): Promise<void> {
  const file = await open(path, 'wx', 0o600);
  try {
    await file.writeFile(text);
    await file.sync();
  } finally {
    await file.close();
  }
}

/** link(2) fails if the name is taken, so of two processes only one creates the file. */
async function giveName(unfinished: string, path: string): Promise<boolean> {
  try {
    await link(unfinished, path);
    return true;
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : '';
    if (code === 'EEXIST') return false;
    if (!NO_LINKS.has(code)) throw error;
  }
  const reserved = await open(path, 'wx', 0o600).catch((error: unknown) => {
    if (error instanceof Error && 'code' in error && error.code === 'EEXIST') return null;
    throw error;
  });
  if (reserved === null) return false;
  await reserved.close();
  await rename(unfinished, path);
  return true;
}

/** Without it a power cut can take the name of a file away that is already in use. */
async function syncFolder(folder: string): Promise<void> {
  try {
    const handle = await open(folder, 'r');
    try {
      await handle.sync();
    } finally {
      await handle.close();
    }
  } catch {
    // Not every system can open or sync a folder.
  }
}
