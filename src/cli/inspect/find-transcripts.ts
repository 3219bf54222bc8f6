import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';

/** Names of files that can be transcripts. A file that is named itself may have any name. */
const TRANSCRIPT = /\.(?:jsonl?|ndjson|traj)$/i;
const SKIPPED_FOLDERS = new Set(['node_modules', '.git']);

/** Replaces each folder by the transcripts in it and below it, in the order of their paths. */
export const findTranscripts = async (paths: readonly string[]): Promise<string[]> => {
  const found: string[] = [];
  for (const path of paths) {
    const isFolder =
      path !== '-' &&
      (await stat(path).then(
        (entry) => entry.isDirectory(),
        () => false,
      ));
    found.push(...(isFolder ? await filesIn(path) : [path]));
  }
  return found;
};

const filesIn = async (folder: string): Promise<string[]> => {
  const entries = await readdir(folder, { withFileTypes: true }).catch(() => []);
  const found: string[] = [];
  for (const entry of entries.toSorted((one, other) => (one.name < other.name ? -1 : 1))) {
    const path = join(folder, entry.name);
    // Links are not followed, so that a folder that contains itself is read once.
    if (entry.isDirectory() && !SKIPPED_FOLDERS.has(entry.name)) found.push(...(await filesIn(path)));
    else if (entry.isFile() && TRANSCRIPT.test(entry.name)) found.push(path);
  }
  return found;
};
