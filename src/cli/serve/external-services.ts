import { type Config, ConfigError } from '../config/read-config.ts';
import { SEARCH_ATTRIBUTE_TYPES } from '../../protocol/names.ts';
import { checkPostgres } from '../../stack/postgres/external.ts';
import { checkTemporal, externalConnection } from '../../stack/temporal/external.ts';
import { prepareNamespace } from '../../stack/temporal/namespace.ts';

export interface ExternalServices {
  temporalAddress: string;
  databaseUrl: string;
  namespace: string;
  searchAttributes: boolean;
}

/** Connects to an external Temporal and Postgres and migrates the database. Throws an error that names what is missing. */
export async function connectExternal({ temporalAddress, databaseUrl, namespace }: Config): Promise<ExternalServices> {
  if (temporalAddress === undefined || databaseUrl === undefined) {
    const missing = temporalAddress === undefined ? 'TEMPORAL_ADDRESS' : 'DATABASE_URL';
    const nextStep = 'Set TEMPORAL_ADDRESS and DATABASE_URL, or use `secondwind dev`, which starts both.';
    throw new ConfigError(`${missing} is not set.`, nextStep);
  }
  await checkPostgres(databaseUrl);
  await checkTemporal(temporalAddress);
  const { searchAttributes } = await prepareNamespace({
    connection: await externalConnection(temporalAddress, process.env),
    namespace,
    searchAttributes: SEARCH_ATTRIBUTE_TYPES,
    owned: false,
  });
  const { migrateToLatest } = await import('../../store/migrate.ts');
  await migrateToLatest(databaseUrl);
  return { temporalAddress, databaseUrl, namespace, searchAttributes };
}
