import type { Command } from 'commander';
import { ConfigError, readConfig } from '../config/read-config.ts';

export function addMigrate(program: Command): void {
  program
    .command('migrate')
    .description(
      'migrate the database of DATABASE_URL to the latest schema; `dev`, `worker` and `api` do this at their start',
    )
    .option('--json', 'print JSON')
    .action(async (flags: { json?: boolean }) => {
      const { databaseUrl } = readConfig(process.env);
      if (databaseUrl === undefined) {
        throw new ConfigError(
          'DATABASE_URL is not set.',
          'Set it to the database to migrate. The database of `secondwind dev` is migrated at each start.',
        );
      }
      const [{ checkPostgres }, { migrateToLatest }, { print }] = await Promise.all([
        import('../../stack/postgres/external.ts'),
        import('../../store/migrate.ts'),
        import('../show/print.ts'),
      ]);
      await checkPostgres(databaseUrl);
      const { applied } = await migrateToLatest(databaseUrl);
      print(flags, { applied }, () =>
        applied.length === 0 ? ['The schema is up to date.'] : applied.map((name) => `applied ${name}`),
      );
    });
}
