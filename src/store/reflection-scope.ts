import { sql } from 'kysely';
import type { Transaction } from 'kysely';
import { cleanText } from './clean-text.ts';
import { StoreInputError } from './errors.ts';
import type { Tables } from './tables.ts';

export type ReflectionScope = 'agent' | 'global';

/** As the generated column `scope_key` has it. */
export const scopeKey = (scope: ReflectionScope, agent: string | null): string =>
  scope === 'global' ? 'global' : `agent:${cleanText(agent ?? '')}`;

/** Whose lessons a reader sees: an agent its own; under `global` also those that were learnt for everybody. */
export const readableScopes = (reader: { scope: ReflectionScope; agent: string | null }): string[] => {
  const own = reader.agent === null ? [] : [scopeKey('agent', reader.agent)];
  if (reader.scope === 'global') return [...own, scopeKey('global', null)];
  if (own.length === 0) throw new StoreInputError('agent', "scope 'agent' needs the agent's name");
  return own;
};

/**
 * The `%` operator, which the index serves, reads its threshold from a setting; here for this transaction only. pg_trgm
 * compares a 4-byte float with an 8-byte one, so that a similarity of exactly 0.7 is not >= 0.7: the hair mends it.
 */
export const setSimilarityThreshold = async (trx: Transaction<Tables>, threshold: number): Promise<void> => {
  const setting = String(Math.max(0, threshold - 1e-6));
  await sql`select set_config('pg_trgm.similarity_threshold', ${setting}, true)`.execute(trx);
};
