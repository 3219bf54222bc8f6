/** Needs Postgres. Shows what the store does when its database is away, lost in the middle, busy, or slow. */
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { describe, expect, inject, it } from 'vitest';
import { StoreInputError, StoreUnreachableError } from '../../src/store/store-errors.ts';
import { createStore } from '../../src/store/store.ts';
import type { Store } from '../../src/store/store.ts';
import { createTestDatabase } from '../support/stack.ts';
import '../support/provided.ts';
import { failureRecord, openTestStore } from './store-fixtures.ts';

const failureOf = async (store: Store): Promise<unknown> => {
  try {
    return await store.ping().then(
      () => 'it answered',
      (error: unknown) => error,
    );
  } finally {
    await store.close();
  }
};

describe('a store whose database is not there', () => {
  it('a store whose database is not there says so at the first query, with the cause and the next step', async () => {
    const error = await failureOf(createStore('postgres://me:secret@127.0.0.1:1/memory'));
    expect(error).toBeInstanceOf(StoreUnreachableError);
    expect(error).toMatchObject({ cause: { code: 'ECONNREFUSED' } });
    expect(String(error)).toContain('Start it, or set DATABASE_URL');
    expect(String(error)).not.toContain('secret');
  });

  it('a store names a wrong password and a missing database for what they are', async () => {
    const wrongPassword = new URL(inject('databaseUrl'));
    wrongPassword.password = 'wrong';
    expect(String(await failureOf(createStore(wrongPassword.href)))).toContain('Check the user and the password');
    const noDatabase = new URL(inject('databaseUrl'));
    noDatabase.pathname = '/nowhere';
    expect(String(await failureOf(createStore(noDatabase.href)))).toContain('Create that database');
  });

  it('a store is not ready when its database only reads', async () => {
    const readOnly = new URL(inject('databaseUrl'));
    readOnly.searchParams.set('options', '-c default_transaction_read_only=on');
    expect(String(await failureOf(createStore(readOnly.href)))).toContain('takes no writes');
  });

  it('a store gives up on a server that accepts and never answers', async () => {
    const silent = createServer(() => {});
    await new Promise<void>((resolve) => void silent.listen(0, '127.0.0.1', resolve));
    const { port } = silent.address() as AddressInfo;
    const databaseUrl = `postgres://me@127.0.0.1:${port}/memory`;
    const error = await failureOf(createStore({ databaseUrl, connectTimeoutMs: 200 }));
    expect(error).toBeInstanceOf(StoreUnreachableError);
    silent.close();
  });

  it('a store refuses an address that is none', () => {
    expect(() => createStore('localhost:5432')).toThrow(StoreInputError);
    expect(() => createStore('mysql://localhost/x')).toThrow('DATABASE_URL: expected postgres://');
  });
});

describe('a store that loses its connections', () => {
  const endAllOthers = `select pg_terminate_backend(pid) from pg_stat_activity
    where datname = current_database() and pid <> pg_backend_pid()`;

  it('a store that loses idle connections tells its log and works again at the next query', async () => {
    const { databaseUrl, query } = await openTestStore();
    const lost: Error[] = [];
    const store = createStore({ databaseUrl, onConnectionLost: (error) => lost.push(error) });
    await store.ping();
    await query(endAllOthers);
    await expect.poll(() => lost.length).toBe(1);
    await store.ping();
    await store.close();
  });

  it('a store that loses its connections in the middle of writes fails those writes as unreachable, stays alive, and takes them again', async () => {
    const { databaseUrl, query } = await openTestStore();
    const store = createStore(databaseUrl);
    const records = Array.from({ length: 2_000 }, (_, n) => failureRecord({ failure_id: `lost:${n}`, run_id: 'lost' }));
    const failures: unknown[] = [];
    const progress = { over: false };
    const writes = Promise.all(
      records.map((record) => store.records.append([record]).catch((error: unknown) => failures.push(error))),
    ).finally(() => {
      progress.over = true;
    });
    // On a slow machine the first kills find nobody at work yet.
    for (let kills = 0; !progress.over && (kills < 5 || failures.length === 0); kills += 1) {
      await new Promise((resolve) => setTimeout(resolve, 20));
      await query(endAllOthers);
    }
    await writes;
    expect(failures.length).toBeGreaterThan(0);
    expect(failures.filter((error) => !(error instanceof StoreUnreachableError))).toEqual([]);
    expect(await store.records.append(records)).toMatchObject({ refused: [] });
    expect(await store.records.forRun('lost')).toHaveLength(2_000);
    await store.close();
  });
});

describe('a store that is busy', () => {
  it('a store that is busy lets callers wait for a connection instead of calling the database unreachable', async () => {
    const { databaseUrl } = await createTestDatabase();
    const store = createStore({ databaseUrl, maxConnections: 1, connectTimeoutMs: 1_000 });
    const pings = Promise.all(Array.from({ length: 500 }, () => store.ping()));
    await expect(pings).resolves.toHaveLength(500);
    await store.close();
  });

  it('a store that is busy ends a statement that takes too long', async () => {
    const { databaseUrl, query } = await openTestStore();
    const store = createStore({ databaseUrl, statementTimeoutMs: 100 });
    await query('begin');
    await query('lock table archived_runs in access exclusive mode');
    await expect(store.archivedRuns.list()).rejects.toThrow('statement timeout');
    await query('rollback');
    expect((await store.archivedRuns.list()).items).toEqual([]);
    await store.close();
  });
});
