/** Needs the shared stack. Shows that the harness gives each file what it promises; says nothing about the product. */
import { Connection } from '@temporalio/client';
import { Client } from 'pg';
import { describe, expect, inject, it } from 'vitest';
import { createTestDatabase, idPrefix, uniqueTaskQueue } from '../support/stack.ts';

describe('the shared stack', () => {
  it('the shared stack answers on Temporal, keeps closed runs for 90 days and knows our search attributes', async () => {
    const connection = await Connection.connect({ address: inject('temporalAddress') });
    try {
      const namespace = inject('namespace');
      const { config } = await connection.workflowService.describeNamespace({ namespace });
      expect(Number(config?.workflowExecutionRetentionTtl?.seconds)).toBe(90 * 24 * 3600);
      const { customAttributes } = await connection.operatorService.listSearchAttributes({ namespace });
      expect(customAttributes).toHaveProperty('SecondwindAgent');
    } finally {
      await connection.close();
    }
  });

  it('the shared stack gives each file databases of its own that already have the newest schema', async () => {
    const [one, two] = [await createTestDatabase(), await createTestDatabase()];
    expect(one.databaseUrl).not.toBe(two.databaseUrl);
    const client = new Client({ connectionString: one.databaseUrl });
    await client.connect();
    const tables = await client.query('select count(*)::int as n from secondwind_migration');
    await client.end();
    expect(tables.rows[0]).toEqual({ n: expect.any(Number) });
  });

  it('the shared stack compares text in any script, which an embedded Postgres with the wrong locale does not', async () => {
    const client = new Client({ connectionString: (await createTestDatabase()).databaseUrl });
    await client.connect();
    await client.query('create extension if not exists pg_trgm');
    const { rows } = await client.query<{ same: number }>(
      `select similarity('接続できません', '接続できません') as same`,
    );
    await client.end();
    expect(rows[0]?.same).toBe(1);
  });

  it('the shared stack never gives the same task queue twice', () => {
    expect(uniqueTaskQueue()).not.toBe(uniqueTaskQueue());
    expect(uniqueTaskQueue().startsWith(idPrefix)).toBe(true);
  });
});
