import { randomBytes } from 'node:crypto';
import { open, rename, rm } from 'node:fs/promises';

/**
 * Replaces a file in one step: after a kill or a power cut it has its old content or all of the new one, never a part.
 * The text is on the disk before the rename, because a rename can otherwise outlive the content of its file.
 */
export async function writeWholeFile(path: string, text: string, mode = 0o600): Promise<void> {
  const unfinished = `${path}.${process.pid}-${randomBytes(4).toString('hex')}.new`;
  try {
    const file = await open(unfinished, 'w', mode);
    try {
      await file.writeFile(text);
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(unfinished, path);
  } catch (error) {
    await rm(unfinished, { force: true }).catch(() => {});
    throw error;
  }
}
