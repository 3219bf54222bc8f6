import { createHash } from 'node:crypto';
import type { Kysely } from 'kysely';
import { cleanText } from './clean-text.ts';
import { ArtifactHashMismatchError } from './store-errors.ts';
import type { Tables } from './tables.ts';

export interface NewArtifact {
  /** If given, it must be the sha256 of the bytes. */
  id?: string;
  bytes: Uint8Array;
  media_type: string;
}

export interface Artifact {
  id: string;
  bytes: Uint8Array;
  media_type: string;
  created_at: string;
}

/** The most that one statement writes: enough to be fast, and little enough for the server's memory. */
const STATEMENT_BYTES = 8 * 1024 * 1024;
const STATEMENT_ROWS = 500;

const artifactIdOf = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex');

export const createArtifacts = (db: Kysely<Tables>) => {
  /**
   * Stores artifacts and returns their ids in the order of the input. The same bytes are one artifact, which keeps its
   * first media type.
   */
  const putMany = async (artifacts: readonly NewArtifact[]): Promise<string[]> => {
    const ids = artifacts.map(verifiedId);
    const rows = new Map(artifacts.map((artifact, index) => [ids[index] ?? '', artifact]));
    // Only missing artifacts are sent. All writers use the same order, so that two batches never wait for each other.
    const known = await has([...rows.keys()]);
    const missing = [...rows].filter(([id]) => !known.has(id)).sort(([left], [right]) => (left < right ? -1 : 1));
    for (const batch of batchesOf(missing)) {
      await db
        .insertInto('artifacts')
        .values(
          batch.map(([id, { bytes, media_type }]) => ({
            id,
            content: bytes,
            media_type: cleanText(media_type),
            bytes: bytes.byteLength,
          })),
        )
        .onConflict((conflict) => conflict.column('id').doNothing())
        .execute();
    }
    return ids;
  };

  /** Returns which of these ids exist. */
  const has = async (ids: readonly string[]): Promise<Set<string>> => {
    if (ids.length === 0) return new Set();
    const rows = await db
      .selectFrom('artifacts')
      .select('id')
      .where((eb) => eb('id', '=', eb.fn.any(eb.val(ids.map(cleanText)))))
      .execute();
    return new Set(rows.map((row) => row.id));
  };

  return {
    put: async (bytes: Uint8Array, mediaType: string, claimedId?: string): Promise<string> => {
      const artifact: NewArtifact = { bytes, media_type: mediaType, ...(claimedId !== undefined && { id: claimedId }) };
      await putMany([artifact]);
      return artifactIdOf(bytes);
    },
    putMany,
    has,
    /** Returns those that exist, in no particular order. */
    getMany: async (ids: readonly string[]): Promise<{ id: string; bytes: Uint8Array }[]> => {
      if (ids.length === 0) return [];
      const rows = await db
        .selectFrom('artifacts')
        .select(['id', 'content'])
        .where((eb) => eb('id', '=', eb.fn.any(eb.val(ids.map(cleanText)))))
        .execute();
      return rows.map(({ id, content }) => ({ id, bytes: content }));
    },
    get: async (id: string): Promise<Artifact | null> => {
      const row = await db
        .selectFrom('artifacts')
        .select(['id', 'content', 'media_type', 'created_at'])
        .where('id', '=', cleanText(id))
        .executeTakeFirst();
      if (!row) return null;
      const { content, created_at, ...rest } = row;
      return { ...rest, bytes: content, created_at: created_at.toISOString() };
    },
  };
};

const verifiedId = ({ id, bytes }: NewArtifact): string => {
  const actual = artifactIdOf(bytes);
  if (id !== undefined && id !== actual) throw new ArtifactHashMismatchError(cleanText(id), actual);
  return actual;
};

function* batchesOf(rows: readonly [string, NewArtifact][]): Generator<[string, NewArtifact][]> {
  let batch: [string, NewArtifact][] = [];
  let size = 0;
  for (const row of rows) {
    const bytes = row[1].bytes.byteLength;
    if (batch.length > 0 && (batch.length >= STATEMENT_ROWS || size + bytes > STATEMENT_BYTES)) {
      yield batch;
      batch = [];
      size = 0;
    }
    batch.push(row);
    size += bytes;
  }
  if (batch.length > 0) yield batch;
}
