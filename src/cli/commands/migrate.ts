import type { Command } from 'commander';
import { ConfigError, readConfig } from '../config/read-config.ts';

export function addMigrate(program: Command): void {
  program
    .command('migrate')
    .description(
      'bring the database of DATABASE_URL to the newest schema; `dev`, `worker` and `api` do so by themselves',
    )
    .option('--json', 'as JSON')
    .action(async (flags: { json?: boolean }) => {
      const { databaseUrl } = readConfig(process.env);
      if (databaseUrl === undefined) {
        throw new ConfigError(
          'DATABASE_URL is not set.',
          'Set it to the database to migrate; the one of `secondwind dev` is migrated at each start.',
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
        applied.length === 0 ? ['The schema is the newest already.'] : applied.map((name) => `applied ${name}`),
      );
    });
}
