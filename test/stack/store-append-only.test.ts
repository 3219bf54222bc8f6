/** Needs Postgres. Shows that the database refuses to change history; says nothing about DROP TABLE, which owners may. */
import { beforeAll, describe, expect, it } from 'vitest';
import { openTestStore } from './store-fixtures.ts';
import type { StoreUnderTest } from './store-fixtures.ts';

let test: StoreUnderTest;
beforeAll(async () => {
  test = await openTestStore();
});

describe.each([
  'failure_records',
  'failure_revisions',
  'artifacts',
  'reflections',
  'reflection_revisions',
  'reflection_occurrences',
  'reflection_uses',
  'feedback_log',
  'reflection_texts',
  'reflection_texts_7',
  'enhancement_switches',
  'refused_parts',
])('%s', (table) => {
  const refusal = (operation: string) => `${table} is append-only: ${operation} is refused`;

  it('an append-only table refuses UPDATE, even one that matches no row', async () => {
    const [column] = await test.query<{ name: string }>(
      `select column_name as name from information_schema.columns
       where table_name = $1 and is_identity = 'NO' and is_generated = 'NEVER' limit 1`,
      [table],
    );
    const update = `update ${table} set ${column?.name} = ${column?.name} where false`;
    await expect(test.query(update)).rejects.toThrow(refusal('UPDATE'));
  });

  it('an append-only table refuses DELETE', async () => {
    await expect(test.query(`delete from ${table}`)).rejects.toThrow(refusal('DELETE'));
  });

  it('an append-only table refuses TRUNCATE, also as part of a cascade', async () => {
    await expect(test.query(`truncate ${table} cascade`)).rejects.toThrow('is append-only: TRUNCATE is refused');
  });

  it('an append-only table refuses changes to a replication session too', async () => {
    await test.query('begin');
    await test.query(`set local session_replication_role = replica`);
    await expect(test.query(`delete from ${table}`)).rejects.toThrow(refusal('DELETE'));
    await test.query('rollback');
  });
});
