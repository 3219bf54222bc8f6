import { sql } from 'kysely';
import type { Transaction } from 'kysely';
import { cleanText } from './clean-text.ts';
import { StoreInputError } from './store-errors.ts';
import type { Tables } from './tables.ts';

export type ReflectionScope = 'agent' | 'global';

/** Whose lessons are read. */
export interface Reader {
  scope: ReflectionScope;
  agent: string | null;
  /** Without a tenant, only lessons without one are read. */
  tenant?: string | null | undefined;
}

/** Computes the same as the generated column `scope_key`. A tenant is part of every key, so no search can cross it. */
export const scopeKey = ({ scope, agent, tenant }: Reader): string => {
  const whose = typeof tenant === 'string' ? `tenant:${cleanText(tenant)}/` : '';
  return scope === 'global' ? `${whose}global` : `${whose}agent:${cleanText(agent ?? '')}`;
};

/** The scopes that a reader sees: an agent's own, and with `global` also the lessons for all agents of the tenant. */
export const readableScopes = (reader: Reader): string[] => {
  const own = reader.agent === null ? [] : [scopeKey({ ...reader, scope: 'agent' })];
  if (reader.scope === 'global') return [...own, scopeKey(reader)];
  if (own.length === 0) throw new StoreInputError('agent', "scope 'agent' needs the agent's name");
  return own;
};

interface Search {
  /** Threshold of `%`, which compares two whole texts. */
  similarity?: number;
  /** Timeout of the statement in Postgres. */
  timeout_ms?: number | undefined;
}

/**
 * Sets the options of a search for one transaction. The operators that use the index read their thresholds from here.
 * pg_trgm compares a 4-byte float with an 8-byte one, so that a similarity of exactly 0.7 would not be >= 0.7;
 * subtracting a tiny amount corrects this. The planner underestimates the cost of a comparison and would read every
 * text of a part instead of the index, so sequential scans are off. Parallel workers are off too, because they would
 * only sort what the index has found (measured: 10 % slower at the median, 25 % for the slowest).
 */
export const prepareSearch = async (trx: Transaction<Tables>, search: Search): Promise<void> => {
  const settings: [string, string][] = [
    ['enable_seqscan', 'off'],
    ['max_parallel_workers_per_gather', '0'],
  ];
  const threshold = (value: number): string => String(Math.max(0, value - 1e-6));
  if (search.similarity !== undefined) settings.push(['pg_trgm.similarity_threshold', threshold(search.similarity)]);
  if (search.timeout_ms !== undefined) settings.push(['statement_timeout', String(Math.ceil(search.timeout_ms))]);
  const calls = settings.map(([name, value]) => sql`set_config(${name}, ${value}, true)`);
  await sql`select ${sql.join(calls)}`.execute(trx);
};
