import { mkdtemp, readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';

/** Longer than any download or build takes, so that no folder in use is removed. */
const ABANDONED_MS = 60 * 60_000;

/** Works in a temporary folder beside the target, so that the result can be put in place with one rename. */
export async function withScratch<T>(beside: string, work: (scratch: string) => Promise<T>): Promise<T> {
  await removeAbandoned(beside);
  const scratch = await mkdtemp(join(beside, 'scratch-'));
  try {
    return await work(scratch);
  } finally {
    await rm(scratch, { recursive: true, force: true });
  }
}

/** Removes folders of processes that were killed and could not clean up. */
async function removeAbandoned(folder: string): Promise<void> {
  for (const name of await readdir(folder)) {
    if (!name.startsWith('scratch-')) continue;
    const path = join(folder, name);
    const age = Date.now() - (await stat(path).then((found) => found.mtimeMs, Date.now));
    if (age > ABANDONED_MS) await rm(path, { recursive: true, force: true });
  }
}
