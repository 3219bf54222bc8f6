import { sql } from 'kysely';
import type { Kysely } from 'kysely';
import { AGREEING_RUNS } from '../core/lessons/tell-lesson.ts';
import { cleanText } from './clean-text.ts';
import { type Reader, scopeKey } from './reflection-scope.ts';
import type { Tables } from './tables.ts';

export interface ClaimedValues {
  run: Reader & { run_id: string; goal_hash: string; input_hash: string | null };
  fingerprint: string;
  /** Hashes of an argument with its value. */
  claims: readonly string[];
}

/**
 * Keeps what one run found to work, and returns the claims that runs with enough different goals and inputs agree on. A
 * run without an input counts as one with an input of its own.
 */
export const agreeOnValues =
  (db: Kysely<Tables>) =>
  async ({ run, fingerprint, claims }: ClaimedValues): Promise<string[]> => {
    if (claims.length === 0) return [];
    const scope_key = scopeKey(run);
    const about = cleanText(fingerprint);
    const run_id = cleanText(run.run_id);
    const rows = [...new Set(claims)].sort().map((claim) => ({
      scope_key,
      fingerprint: about,
      claim,
      run_id,
      goal_hash: run.goal_hash,
      input_hash: run.input_hash ?? `none:${run_id}`,
    }));
    await db
      .insertInto('reflection_claims')
      .values(rows)
      .onConflict((conflict) => conflict.doNothing())
      .execute();
    const { rows: agreed } = await sql<{ claim: string }>`
      select claim from reflection_claims
      where scope_key = ${scope_key} and fingerprint = ${about} and claim = any(${rows.map(({ claim }) => claim)}::text[])
      group by claim
      having count(distinct goal_hash) >= ${AGREEING_RUNS} and count(distinct input_hash) >= ${AGREEING_RUNS}`.execute(
      db,
    );
    return agreed.map(({ claim }) => claim);
  };
