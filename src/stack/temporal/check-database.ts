import { open, statfs } from 'node:fs/promises';
import { databaseFile } from './dev-server.ts';

/** With less than this, SQLite cannot write its journal any more. */
const LEAST_FREE_BYTES = 4 * 1024 * 1024;
const SQLITE_HEADER = 'SQLite format 3\0';

/**
 * Resolves if the dev server's database can take writes, as far as its file tells. An idle server notices a file that is
 * gone, overwritten or read-only, and a full disk, only when it writes the next time.
 *
 * @throws Error if the file cannot be opened for writing or is no database, or the disk is full
 */
export async function checkDatabase(dataDir: string): Promise<void> {
  const file = await open(databaseFile(dataDir), 'r+');
  try {
    const { buffer } = await file.read(Buffer.alloc(SQLITE_HEADER.length), 0, SQLITE_HEADER.length, 0);
    if (buffer.toString('latin1') !== SQLITE_HEADER) throw new Error('The file of the Temporal database is damaged.');
  } finally {
    await file.close();
  }
  const { bavail, bsize } = await statfs(dataDir);
  if (bavail * bsize < LEAST_FREE_BYTES) throw new Error('The disk that holds the Temporal database is full.');
}
