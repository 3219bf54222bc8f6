import { mkdtemp, readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';

/** Longer than any fetch or build may take, so that nobody who is still at work loses what he made. */
const ABANDONED_MS = 60 * 60_000;

/** A folder to work in, next to where the result will be, so that a rename can put it there in one step. */
export async function withScratch<T>(beside: string, work: (scratch: string) => Promise<T>): Promise<T> {
  await removeAbandoned(beside);
  const scratch = await mkdtemp(join(beside, 'scratch-'));
  try {
    return await work(scratch);
  } finally {
    await rm(scratch, { recursive: true, force: true });
  }
}

/** One who was killed could not tidy up. */
async function removeAbandoned(folder: string): Promise<void> {
  for (const name of await readdir(folder)) {
    if (!name.startsWith('scratch-')) continue;
    const path = join(folder, name);
    const age = Date.now() - (await stat(path).then((found) => found.mtimeMs, Date.now));
    if (age > ABANDONED_MS) await rm(path, { recursive: true, force: true });
  }
}
