/** Deltas of models from one process to another through Postgres, encrypted and not. Needs Postgres. */
import { randomBytes } from 'node:crypto';
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createEncryption } from '../../src/encryption/encryption.ts';
import { mainKey } from '../../src/encryption/main-key.ts';
import type { ModelDelta } from '../../src/protocol/model-delta.ts';
import { openDatabase } from '../../src/store/connection.ts';
import { createStore, type Store } from '../../src/store/store.ts';
import { createTestDatabase } from '../support/stack.ts';

const delta = (seq: number, text: string): ModelDelta => ({
  event: 'model_delta',
  at: '2026-11-17T10:00:00.000Z',
  run_id: 'run-1',
  loop_id: 'loop_run-1',
  turn: 1,
  attempt: 1,
  seq,
  final: false,
  kind: 'text',
  text,
});

let databaseUrl = '';
const stores: Store[] = [];
const open = (encryption?: Parameters<typeof createStore>[0]): Store => {
  const store = createStore(encryption ?? databaseUrl);
  stores.push(store);
  return store;
};
beforeAll(async () => {
  databaseUrl = (await createTestDatabase()).databaseUrl;
});
afterAll(async () => {
  for (const store of stores) await store.close();
});

async function watched(store: Store, is: boolean): Promise<void> {
  await expect.poll(() => store.modelDeltas.isWatched('run-1')).toBe(is);
}

describe.each([{ isOn: false }, { isOn: true }])('deltas with encryption $isOn', ({ isOn }) => {
  it('arrive in order at every watcher of the run, also the largest, and at nobody else', async () => {
    const encryption = isOn ? createEncryption([mainKey('main', randomBytes(32))]) : undefined;
    const [worker, api] = [open({ databaseUrl, encryption }), open({ databaseUrl, encryption })];
    const [one, other, stranger]: ModelDelta[][] = [[], [], []];
    const leave = [
      api.modelDeltas.subscribe('run-1', (item) => one?.push(item)),
      api.modelDeltas.subscribe('run-1', (item) => other?.push(item)),
      api.modelDeltas.subscribe('run-2', (item) => stranger?.push(item)),
    ];
    await watched(worker, true);
    // The most that one message holds: every character takes six bytes in JSON.
    const sent = [delta(1, 'a'), delta(2, '\u0001'.repeat(500)), delta(3, 'é€😀'), delta(4, 'a')];
    await worker.modelDeltas.send('run-1', sent);
    await expect.poll(() => [one, other]).toEqual([sent, sent]);
    expect(stranger).toEqual([]);
    leave[0]?.();
    await watched(worker, true);
    leave[1]?.();
    await watched(worker, false);
    leave[2]?.();
  });
});

describe('a watcher whose connection breaks', () => {
  it('connects again and gets what is sent from then on', async () => {
    const [worker, api] = [open(), open()];
    const seen: string[] = [];
    const leave = api.modelDeltas.subscribe('run-1', ({ text }) => seen.push(text));
    await watched(worker, true);
    const db = openDatabase({ databaseUrl });
    await sql`select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'secondwind watch'`.execute(
      db,
    );
    await db.destroy();
    await watched(worker, true);
    await expect
      .poll(
        async () => {
          await worker.modelDeltas.send('run-1', [delta(1, 'again')]);
          return seen.length > 0;
        },
        { timeout: 20_000 },
      )
      .toBe(true);
    leave();
    await watched(worker, false);
  });
});
