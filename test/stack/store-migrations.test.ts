/** Needs Postgres. Shows how a database gets its schema, also when two processes bring it at once. */
import { Client } from 'pg';
import { beforeAll, describe, expect, inject, it } from 'vitest';
import { migrateToLatest } from '../../src/store/migrate.ts';
import { migrations } from '../../src/store/migrations/all-migrations.ts';
import { idPrefix } from '../support/stack.ts';
import '../support/provided.ts';

const all = Object.keys(migrations);
let emptyDatabases = 0;

const run = async (databaseUrl: string, statement: string): Promise<unknown[]> => {
  const client = new Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    return (await client.query(statement)).rows;
  } finally {
    await client.end();
  }
};

const emptyDatabase = async (): Promise<string> => {
  emptyDatabases += 1;
  const name = `${idPrefix}_empty_${emptyDatabases}`;
  await run(inject('databaseUrl'), `create database ${name} template template0`);
  const url = new URL(inject('databaseUrl'));
  url.pathname = `/${name}`;
  return url.href;
};

describe('migrating', () => {
  let databaseUrl: string;
  beforeAll(async () => {
    databaseUrl = await emptyDatabase();
  });

  it('migrating an empty database applies every migration in order, and a second time nothing', async () => {
    expect(await migrateToLatest(databaseUrl)).toEqual({ applied: all });
    expect(await migrateToLatest(databaseUrl)).toEqual({ applied: [] });
  });

  it('migrating from six processes at once applies each migration exactly once, and nobody fails', async () => {
    for (let round = 0; round < 5; round += 1) {
      const fresh = await emptyDatabase();
      const results = await Promise.all(Array.from({ length: 6 }, () => migrateToLatest(fresh)));
      expect(results.flatMap((result) => result.applied)).toEqual(all);
    }
  });

  it('a database whose schema is newer than we know is refused by name, and left as it is', async () => {
    const newer = await emptyDatabase();
    await migrateToLatest(newer);
    await run(newer, `insert into secondwind_migration (name, timestamp) values ('9999_from_the_future', now())`);
    await expect(migrateToLatest(newer)).rejects.toMatchObject({
      code: 'STORE_SCHEMA_NEWER',
      message: expect.stringContaining('9999_from_the_future'),
    });
  });

  it('migrating an unreachable database says where it looked and what to do, without the password', async () => {
    const error = await migrateToLatest('postgres://me:secret@127.0.0.1:1/memory').catch((caught: unknown) => caught);
    expect(error).toMatchObject({ code: 'STORE_UNREACHABLE' });
    expect(String(error)).toMatch(/127\.0\.0\.1:1\/memory cannot be reached: .*ECONNREFUSED.* DATABASE_URL/);
    expect(String(error)).not.toContain('secret');
  });
});
