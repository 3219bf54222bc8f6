/** Needs Postgres. Shows that an artifact is found by what it is, byte for byte. */
import { createHash, randomBytes } from 'node:crypto';
import { beforeAll, describe, expect, it } from 'vitest';
import { openTestStore } from './store-fixtures.ts';
import type { StoreUnderTest } from './store-fixtures.ts';

let test: StoreUnderTest;
beforeAll(async () => {
  test = await openTestStore();
});

const sha256 = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex');

describe('artifacts', () => {
  it('artifacts have the sha256 of their bytes as id, and come back byte for byte', async () => {
    const bytes = Buffer.from([0, 255, 0xd8, 0x00, 10, 13, 0]);
    const id = await test.store.artifacts.put(bytes, 'application/octet-stream');
    expect(id).toBe(sha256(bytes));
    const found = await test.store.artifacts.get(id);
    expect(Buffer.from(found?.bytes ?? []).equals(bytes)).toBe(true);
    expect(found).toMatchObject({ id, media_type: 'application/octet-stream' });
  });

  it('artifacts can be empty, and can have 10 MB', async () => {
    const large = randomBytes(10 * 1024 * 1024);
    const ids = await test.store.artifacts.putMany([
      { bytes: new Uint8Array(), media_type: 'text/plain' },
      { bytes: large, media_type: 'application/octet-stream' },
    ]);
    expect(ids).toEqual([sha256(new Uint8Array()), sha256(large)]);
    expect((await test.store.artifacts.get(ids[0] ?? ''))?.bytes.byteLength).toBe(0);
    expect(sha256((await test.store.artifacts.get(ids[1] ?? ''))?.bytes ?? new Uint8Array())).toBe(ids[1]);
  });

  it('artifacts are one when the same bytes are put 100 times at once; the first media type stands', async () => {
    const bytes = Buffer.from('the same');
    await test.store.artifacts.put(bytes, 'text/plain');
    await Promise.all(Array.from({ length: 100 }, () => test.store.artifacts.put(bytes, 'text/html')));
    const rows = await test.query('select media_type, bytes::int from artifacts where id = $1', [sha256(bytes)]);
    expect(rows).toEqual([{ media_type: 'text/plain', bytes: 8 }]);
  });

  it('artifacts go in from many overlapping batches at once', async () => {
    const all = Array.from({ length: 300 }, (_, n) => ({
      bytes: Buffer.from(`overlap ${n}`),
      media_type: 'text/plain',
    }));
    const batches = Array.from({ length: 12 }, (_, n) => (n % 2 === 0 ? all : all.toReversed()));
    await Promise.all(batches.map((batch) => test.store.artifacts.putMany(batch)));
    expect((await test.store.artifacts.has(all.map(({ bytes }) => sha256(bytes)))).size).toBe(300);
  });

  it('artifacts keep the order of the input in the ids, also when two are equal', async () => {
    const [a, b] = [Buffer.from('order a'), Buffer.from('order b')];
    const put = [b, a, b].map((bytes) => ({ bytes, media_type: 'text/plain' }));
    expect(await test.store.artifacts.putMany(put)).toEqual([sha256(b), sha256(a), sha256(b)]);
  });

  it('artifacts with a wrong id are refused, by the store and by the database', async () => {
    const bytes = Buffer.from('honest');
    const wrong = sha256(Buffer.from('other'));
    await expect(test.store.artifacts.put(bytes, 'text/plain', wrong)).rejects.toMatchObject({
      code: 'ARTIFACT_HASH_MISMATCH',
    });
    await expect(
      test.query('insert into artifacts (id, content, media_type, bytes) values ($1, $2, $3, 6)', [wrong, bytes, 't']),
    ).rejects.toThrow('violates check constraint');
    expect(await test.store.artifacts.put(bytes, 'text/plain', sha256(bytes))).toBe(sha256(bytes));
  });

  it('artifacts that nobody put are not there', async () => {
    const id = await test.store.artifacts.put(Buffer.from('known'), 'text/plain');
    expect(await test.store.artifacts.get('f'.repeat(64))).toBeNull();
    expect(await test.store.artifacts.has([id, 'f'.repeat(64), 'no\0id'])).toEqual(new Set([id]));
    expect(await test.store.artifacts.has([])).toEqual(new Set());
  });
});
