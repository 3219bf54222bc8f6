import { sql } from 'kysely';
import type { Kysely } from 'kysely';
import type { DecisionVerdict, GuardDecision, ListedDecision } from '../protocol/guard-decisions.ts';
import { cleanText } from './clean-text.ts';
import { buildPage, decodeCursor, pageSize } from './cursor.ts';
import type { Page } from './cursor.ts';
import { StoreInputError } from './store-errors.ts';
import type { Tables } from './tables.ts';
import { isoMillis } from './validation.ts';

export interface DecisionFilter {
  agent?: string | undefined;
  run_id?: string | undefined;
  /** ISO time, inclusive. */
  since: string;
  cursor?: string | undefined;
  limit?: number | undefined;
}

type DecisionRow = Omit<ListedDecision, 'at' | 'verdict'> & {
  id: number;
  decided_at: Date;
  wrong: boolean | null;
  by: string;
  reason: string | null;
  judged_at: Date;
};

export const createGuardDecisions = (db: Kysely<Tables>) => ({
  /** Writes decisions. Writing one twice has no effect. */
  append: async (decisions: readonly GuardDecision[], agent: string | null): Promise<void> => {
    if (decisions.length === 0) return;
    await db
      .insertInto('guard_decisions')
      .values(
        decisions.map(({ at, ...decision }) => ({
          ...decision,
          decision_id: cleanText(decision.decision_id),
          run_id: cleanText(decision.run_id),
          loop_id: cleanText(decision.loop_id),
          why: cleanText(decision.why),
          agent: agent === null ? null : cleanText(agent),
          decided_at: isoMillis(at),
        })),
      )
      .onConflict((conflict) => conflict.columns(['run_id', 'decision_id']).doNothing())
      .execute();
  },

  /** The latest written first, each with the latest verdict about it. */
  list: async ({ agent, run_id, since, cursor, limit }: DecisionFilter): Promise<Page<ListedDecision>> => {
    const size = pageSize(limit);
    const { rows } = await sql<DecisionRow>`
      select
        d.id, d.decision_id, d.run_id, d.agent, d.kind, d.rule, d.action, d.why, d.loop_id, d.step_id, d.fingerprint,
        d.decided_at, v.wrong, v.by, v.reason, v.created_at as judged_at
      from guard_decisions as d
      left join lateral (
        select wrong, by, reason, created_at from decision_verdicts as v
        where v.run_id = d.run_id and v.decision_id = d.decision_id order by v.id desc limit 1
      ) as v on true
      where d.decided_at >= ${isoMillis(since)}::timestamptz
        ${agent === undefined ? sql`` : sql`and d.agent = ${cleanText(agent)}`}
        ${run_id === undefined ? sql`` : sql`and d.run_id = ${cleanText(run_id)}`}
        ${cursor === undefined ? sql`` : sql`and d.id < ${idOfCursor(cursor)}`}
      order by d.id desc
      limit ${size + 1}`.execute(db);
    return buildPage(rows, size, toListed, ({ id }) => [id]);
  },

  /** Adds a person's word on a decision. Returns null if the run has no such decision. */
  judge: async (
    decision: { run_id: string; decision_id: string },
    { wrong, by, reason }: Omit<DecisionVerdict, 'at'>,
  ): Promise<DecisionVerdict | null> => {
    const { rows } = await sql<{ created_at: Date }>`
      insert into decision_verdicts (run_id, decision_id, wrong, by, reason)
      select run_id, decision_id, ${wrong}::boolean, ${cleanText(by)}, ${reason === null ? null : cleanText(reason)}
      from guard_decisions
      where run_id = ${cleanText(decision.run_id)} and decision_id = ${cleanText(decision.decision_id)}
      returning created_at`.execute(db);
    const [written] = rows;
    return written === undefined ? null : { wrong, by, reason, at: written.created_at.toISOString() };
  },
});

const toListed = ({ id: _id, decided_at, wrong, by, reason, judged_at, ...decision }: DecisionRow): ListedDecision => ({
  ...decision,
  at: decided_at.toISOString(),
  verdict: wrong === null ? null : { wrong, by, reason, at: judged_at.toISOString() },
});

const idOfCursor = (cursor: string): number => {
  const [id] = decodeCursor(cursor);
  if (!Number.isSafeInteger(id)) throw new StoreInputError('cursor', 'not a cursor of this list');
  return Number(id);
};
