import { Migrator, sql } from 'kysely';
import type { Kysely } from 'kysely';
import { openDatabase } from './connection.ts';
import { StoreSchemaNewerError } from './store-errors.ts';
import { migrations } from './migrations/all-migrations.ts';

/** Has our own name, so that it does not clash with another user of kysely in the same database. */
const MIGRATION_TABLE = 'secondwind_migration';

/**
 * Updates the database to the schema of this version. If two processes do it at once, the second waits for the first.
 */
export const migrateToLatest = async (databaseUrl: string): Promise<{ applied: string[] }> => {
  // One connection holds the lock and does the work. Waiting for another process must not hit the statement timeout.
  const db = openDatabase({ databaseUrl, maxConnections: 1, statementTimeoutMs: 0 });
  try {
    await refuseNewerSchema(db);
    const migrator = new Migrator({
      db,
      provider: { getMigrations: () => Promise.resolve(migrations) },
      migrationTableName: MIGRATION_TABLE,
      migrationLockTableName: `${MIGRATION_TABLE}_lock`,
      // The default compares by locale, which differs between machines.
      nameComparator: (left, right) => (left < right ? -1 : left > right ? 1 : 0),
    });
    const { error, results } = await migrator.migrateToLatest();
    if (error) throw error;
    return { applied: (results ?? []).map((result) => result.migrationName) };
  } finally {
    await db.destroy();
  }
};

const refuseNewerSchema = async <T>(db: Kysely<T>): Promise<void> => {
  const found = await sql<{ there: boolean }>`select to_regclass(${MIGRATION_TABLE}) is not null as there`.execute(db);
  if (!found.rows[0]?.there) return;
  const executed = await sql<{ name: string }>`select name from ${sql.table(MIGRATION_TABLE)} order by name`.execute(
    db,
  );
  const unknown = executed.rows.map((row) => row.name).filter((name) => !(name in migrations));
  if (unknown.length > 0) throw new StoreSchemaNewerError(unknown);
};
