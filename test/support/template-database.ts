import { Client } from 'pg';
import { migrateToLatest } from '../../src/store/migrate.ts';

export const TEMPLATE_DATABASE = 'secondwind_template';

/** Migrated once. Copying it takes a few milliseconds. */
export async function makeTemplateDatabase(adminUrl: string): Promise<void> {
  await runAsAdmin(adminUrl, `create database ${TEMPLATE_DATABASE}`);
  await migrateToLatest(urlOfDatabase(adminUrl, TEMPLATE_DATABASE));
}

export function urlOfDatabase(adminUrl: string, database: string): string {
  const url = new URL(adminUrl);
  url.pathname = `/${database}`;
  return url.href;
}

export async function runAsAdmin(adminUrl: string, sql: string): Promise<void> {
  const client = new Client({ connectionString: adminUrl });
  await client.connect();
  try {
    await client.query(sql);
  } finally {
    await client.end();
  }
}
