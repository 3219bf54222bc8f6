import { sql } from 'kysely';
import type { Transaction } from 'kysely';
import { cleanText } from './clean-text.ts';
import { StoreInputError } from './store-errors.ts';
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

interface Search {
  /** For `%`: two texts as a whole. */
  similarity?: number;
  /** For `%>`: a short text within a longer one. */
  word_similarity?: number;
  /** The server gives up after this. */
  timeout_ms?: number | undefined;
}

/**
 * Settings of one transaction's search. The operators, which the index serves, read their thresholds from here; pg_trgm
 * compares a 4-byte float with an 8-byte one, so that a similarity of exactly 0.7 is not >= 0.7: the hair mends it. To
 * the planner a comparison costs next to nothing, so without a word it reads every text of a part instead of the index.
 * Nor is a second process worth its start: it would only sort what the index has found (measured: a tenth slower at the
 * median, a quarter for the slowest).
 */
export const prepareSearch = async (trx: Transaction<Tables>, search: Search): Promise<void> => {
  const settings: [string, string][] = [
    ['enable_seqscan', 'off'],
    ['max_parallel_workers_per_gather', '0'],
  ];
  const threshold = (value: number): string => String(Math.max(0, value - 1e-6));
  if (search.similarity !== undefined) settings.push(['pg_trgm.similarity_threshold', threshold(search.similarity)]);
  if (search.word_similarity !== undefined) {
    settings.push(['pg_trgm.word_similarity_threshold', threshold(search.word_similarity)]);
  }
  if (search.timeout_ms !== undefined) settings.push(['statement_timeout', String(Math.ceil(search.timeout_ms))]);
  const calls = settings.map(([name, value]) => sql`set_config(${name}, ${value}, true)`);
  await sql`select ${sql.join(calls)}`.execute(trx);
};
