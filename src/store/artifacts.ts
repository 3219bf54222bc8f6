import { defined } from '../protocol/json.ts';
import { createHash } from 'node:crypto';
import { sql, type Kysely, type Selectable } from 'kysely';
import type { Encryption } from '../encryption/encryption.ts';
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

export const createArtifacts = (db: Kysely<Tables>, encryption: Encryption) => {
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
            ...contentOf(bytes, id, encryption),
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
      const artifact: NewArtifact = { bytes, media_type: mediaType, ...defined({ id: claimedId }) };
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
        .select(['id', ...CONTENT])
        .where((eb) => eb('id', '=', eb.fn.any(eb.val(ids.map(cleanText)))))
        .execute();
      return rows.map((row) => ({ id: row.id, bytes: plainBytes(row, encryption) }));
    },
    get: async (id: string): Promise<Artifact | null> => {
      const row = await db
        .selectFrom('artifacts')
        .select(['id', 'media_type', 'created_at', 'main_key', 'data_key'])
        .select([sliceFrom(0).as('content'), sql<number>`octet_length(content)`.as('size')])
        .where('id', '=', cleanText(id))
        .executeTakeFirst();
      const content = row ? await withRest(db, row) : null;
      if (!row || !content) return null;
      const bytes = plainBytes({ ...row, content }, encryption);
      return { id: row.id, media_type: row.media_type, bytes, created_at: row.created_at.toISOString() };
    },
  };
};

/**
 * The driver decodes bytes from text, which keeps the event loop busy: 10 MB at once would hold up every other request
 * and heartbeat of the process. Large content is therefore read in slices.
 */
const SLICE_BYTES = 1024 * 1024;
const sliceFrom = (offset: number) =>
  sql<Uint8Array>`substring(content from ${offset + 1}::int for ${SLICE_BYTES}::int)`;

/** All of the content, or null if the artifact was deleted meanwhile. */
async function withRest(
  db: Kysely<Tables>,
  { id, content, size }: { id: string; content: Uint8Array; size: number },
): Promise<Uint8Array | null> {
  if (content.byteLength >= size) return content;
  const whole = new Uint8Array(size);
  whole.set(content);
  for (let offset = content.byteLength; offset < size; offset += SLICE_BYTES) {
    const next = db.selectFrom('artifacts').select(sliceFrom(offset).as('content')).where('id', '=', id);
    const row = await next.executeTakeFirst();
    if (!row) return null;
    whole.set(row.content, offset);
  }
  return whole;
}

const CONTENT = ['content', 'main_key', 'data_key'] as const;
type Content = Pick<Selectable<Tables['artifacts']>, (typeof CONTENT)[number]>;

/** The id is that of the plain bytes, so the same output is one artifact under every key. */
function contentOf(bytes: Uint8Array, id: string, encryption: Encryption): Content {
  if (!encryption.isOn) return { content: bytes, main_key: null, data_key: null };
  const sealed = encryption.seal(bytes, { scope: 'artifacts', place: placeOf(id) });
  return { content: sealed.bytes, main_key: sealed.mainKey, data_key: sealed.dataKey };
}

function plainBytes({ id, content, main_key, data_key }: Content & { id: string }, encryption: Encryption): Uint8Array {
  if (main_key === null || data_key === null) return content;
  return encryption.open({ mainKey: main_key, dataKey: data_key, bytes: content }, { place: placeOf(id) });
}

const placeOf = (id: string): string => `artifact ${id}`;

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
