/** Needs Postgres. Shows that artifacts and archives rest encrypted, and that rows from before and under old keys stay readable. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createEncryption, type Encryption } from '../../src/encryption/encryption.ts';
import { mainKey } from '../../src/encryption/main-key.ts';
import type { ArchivedRun } from '../../src/store/archived-runs.ts';
import { createStore, type Store } from '../../src/store/store.ts';
import { openTestStore, timeAt } from './store-fixtures.ts';
import type { StoreUnderTest } from './store-fixtures.ts';

const keyA = mainKey('a', new Uint8Array(32).fill(1));
const keyB = mainKey('b', new Uint8Array(32).fill(2));

let test: StoreUnderTest;
const stores: Store[] = [];
const storeWith = (encryption: Encryption): Store => {
  const store = createStore({ databaseUrl: test.databaseUrl, encryption });
  stores.push(store);
  return store;
};
let withA: Store;
let withB: Store;
let withBoth: Store;
beforeAll(async () => {
  test = await openTestStore();
  withA = storeWith(createEncryption([keyA]));
  withB = storeWith(createEncryption([keyB]));
  withBoth = storeWith(createEncryption([keyB, keyA]));
});
afterAll(() => Promise.all(stores.map((store) => store.close())));

const archivedRun = (run_id: string): ArchivedRun => ({
  run_id,
  agent: 'clerk',
  goal: 'a goal that nobody else should read',
  outcome: 'completed',
  summary: { result: { output: 'an output that nobody else should read' } },
  trace: [{ loop_id: 'loop', note: 'a trace that nobody else should read' }],
  labels: [],
  started_at: timeAt(0),
  ended_at: timeAt(1_000),
});
const everything = async (table: string): Promise<string> => {
  const rows = await test.query<Record<string, unknown>>(`select * from ${table}`);
  return rows
    .flatMap((row) => Object.values(row))
    .map((value) => (Buffer.isBuffer(value) ? value.toString('latin1') : JSON.stringify(value)))
    .join('\n');
};
const plainOf = async (store: Store, id: string): Promise<string> =>
  Buffer.from((await store.artifacts.get(id))?.bytes ?? []).toString();

describe('artifacts', () => {
  it('artifacts are encrypted, and keep the sha256 of their plain bytes as id', async () => {
    const bytes = Buffer.from('an artifact that nobody else should read');
    const id = await withA.artifacts.put(bytes, 'text/plain');
    expect(id).toBe(await test.store.artifacts.put(bytes, 'text/plain'));
    expect(await everything('artifacts')).not.toContain('nobody else');
    expect(await plainOf(withA, id)).toBe(bytes.toString());
    const [found] = await withA.artifacts.getMany([id]);
    expect(Buffer.from(found?.bytes ?? []).toString()).toBe(bytes.toString());
  });

  it('artifacts from before encryption can still be read', async () => {
    const id = await test.store.artifacts.put(Buffer.from('from before'), 'text/plain');
    expect(await plainOf(withA, id)).toBe('from before');
  });

  it('artifacts can be read after a change of keys, and only by a store that has the key', async () => {
    const id = await withA.artifacts.put(Buffer.from('of key a'), 'text/plain');
    expect(await plainOf(withBoth, id)).toBe('of key a');
    await expect(withB.artifacts.get(id)).rejects.toThrow(/Add the key a to SECONDWIND_ENCRYPTION_KEYS/);
  });

  it('artifacts cannot be exchanged for one another', async () => {
    const one = await withA.artifacts.put(Buffer.from('one'), 'text/plain');
    const other = 'f'.repeat(64);
    await test.query(
      `insert into artifacts (id, content, media_type, bytes, main_key, data_key)
       select $2, content, media_type, bytes, main_key, data_key from artifacts where id = $1`,
      [one, other],
    );
    await expect(withA.artifacts.get(other)).rejects.toThrow(/cannot be decrypted/);
  });
});

describe('archives', () => {
  it('archives of a run come back as they were put, and rest encrypted', async () => {
    const run = archivedRun('sealed');
    await withA.archivedRuns.put(run);
    expect(await withA.archivedRuns.get('sealed')).toStrictEqual(run);
    expect(await everything('archived_runs')).not.toContain('nobody else');
  });

  it('archives of a run from before encryption come back as they were put', async () => {
    const run = archivedRun('plain');
    await test.store.archivedRuns.put(run);
    expect(await withA.archivedRuns.get('plain')).toStrictEqual(run);
  });

  it('archives whose key is missing leave the list readable, and are named when one of them is asked for', async () => {
    await withA.archivedRuns.put(archivedRun('listed'));
    const { items } = await withB.archivedRuns.list({});
    expect(items.find((item) => item.run_id === 'listed')).toMatchObject({ agent: 'clerk', goal: '' });
    await expect(withB.archivedRuns.get('listed')).rejects.toThrow(/Add the key a/);
  });

  it('archives of a guard come back byte for byte, and rest encrypted', async () => {
    const ending = { version: 1, state: { b: 'for nobody else', a: 1 }, ignored: [] };
    await withA.archivedGuards.put({ family: 'sealed', ending, started_at: timeAt(0), ended_at: timeAt(1) });
    expect(JSON.stringify((await withA.archivedGuards.get('sealed'))?.ending)).toBe(JSON.stringify(ending));
    expect(await everything('archived_guards')).not.toContain('nobody else');
  });
});
