import { sql } from 'kysely';
import type { Kysely, Selectable, Transaction } from 'kysely';
import { BY_RULE, ENHANCEMENT_ON, nextSwitch, describeManualSwitch, SWITCH_OFF } from '../core/retry/switch-off.ts';
import type { EnhancementSwitch } from '../core/retry/switch-off.ts';
import type { Evaluation } from '../core/retry/monitors.ts';
import { cleanText, jsonParameter } from './clean-text.ts';
import { StoreInputError } from './store-errors.ts';
import { toEvaluation } from './evaluation-rows.ts';
import type { Tables } from './tables.ts';

/** Caps for a person's name and note. */
const BY_CHARS = 200;
const NOTE_CHARS = 1_000;
/** Evaluations that are read: the window, and those before it for the agent's own baseline. */
const EVALUATIONS_READ = 10 * SWITCH_OFF.window;

type SwitchRow = Selectable<Tables['enhancement_switches']>;

export interface SwitchEntry {
  agent: string;
  enhancement: 'on' | 'off';
  reason: string | null;
  sentence: string | null;
  by: string;
  note: string | null;
  at: string;
}

/** A person's request, with who asked and why. */
export interface SwitchRequest {
  enhancement: 'on' | 'off';
  by: string;
  note?: string | undefined;
}

/** Whether an agent's retries enhance prompts. Every change is a row with who made it and why. */
export const createEnhancementSwitches = (db: Kysely<Tables>) => ({
  currentSwitch: (agent: string): Promise<EnhancementSwitch> => currentSwitch(db, cleanText(agent)),

  /**
   * Sets the switch for an operator. On: earlier evaluations no longer count. Off: until somebody turns it on again.
   */
  switchTo: async (agent: string, request: SwitchRequest) => {
    if (request.by.trim() === '')
      throw new StoreInputError('by', 'required: the name of the person who changes the switch');
    const by = cleanText(request.by).slice(0, BY_CHARS);
    const note = request.note === undefined ? null : cleanText(request.note).slice(0, NOTE_CHARS);
    const isOff = request.enhancement === 'off';
    return db.transaction().execute(async (trx) => {
      const name = cleanText(agent);
      await lockAgent(trx, name);
      const before = await currentSwitch(trx, name);
      if (before.enhancement === request.enhancement) return { switched: false, current: before };
      await trx
        .insertInto('enhancement_switches')
        .values({
          agent: name,
          enhancement: request.enhancement,
          reason: isOff ? 'by_person' : null,
          sentence: isOff ? describeManualSwitch(by, note) : null,
          judgement: null,
          by,
          note,
        })
        .execute();
      return { switched: true, current: await currentSwitch(trx, name) };
    });
  },

  /** Every change of an agent's switch, oldest first. */
  historyOf: async (agent: string): Promise<SwitchEntry[]> => {
    const rows = await db
      .selectFrom('enhancement_switches')
      .selectAll()
      .where('agent', '=', cleanText(agent))
      .orderBy('id')
      .execute();
    return rows.map(({ id: _id, judgement: _judgement, at, ...entry }) => ({ ...entry, at: at.toISOString() }));
  },

  /** The current state of every switch that was ever changed, by agent name. */
  all: async (filter: { agent?: string | undefined } = {}): Promise<({ agent: string } & EnhancementSwitch)[]> => {
    let query = db.selectFrom('enhancement_switches').distinctOn('agent').selectAll();
    if (filter.agent !== undefined) query = query.where('agent', '=', cleanText(filter.agent));
    const rows = await query.orderBy('agent').orderBy('id', 'desc').execute();
    return rows.map((row) => ({ agent: row.agent, ...toSwitch(row) }));
  },
});

const currentSwitch = async (db: Kysely<Tables>, agent: string): Promise<EnhancementSwitch> => {
  const row = await db
    .selectFrom('enhancement_switches')
    .selectAll()
    .where('agent', '=', agent)
    .orderBy('id', 'desc')
    .limit(1)
    .executeTakeFirst();
  return row === undefined ? ENHANCEMENT_ON : toSwitch(row);
};

const toSwitch = (row: SwitchRow): EnhancementSwitch =>
  row.enhancement === 'off' && row.reason !== null
    ? {
        enhancement: 'off',
        since: row.at.toISOString(),
        by: row.by,
        note: row.note,
        reason: row.reason,
        sentence: row.sentence ?? '',
        judgement: row.judgement,
      }
    : { enhancement: 'on', since: row.at.toISOString(), by: row.by, note: row.note };

/** Serializes writers of one agent's evaluations and switches. */
const lockAgent = async (trx: Transaction<Tables>, agent: string): Promise<void> => {
  await sql`select pg_advisory_xact_lock(hashtextextended(${`enhancement\n${agent}`}, 7))`.execute(trx);
};

/**
 * Applies the rollback rule to an agent's latest evaluations, in the transaction that wrote them. Because writers are
 * serialized, the last one sees all evaluations, so the switch is changed exactly once.
 */
export const applyRollbackRule = async (trx: Transaction<Tables>, agent: string): Promise<void> => {
  await lockAgent(trx, agent);
  const current = await currentSwitch(trx, agent);
  if (current.enhancement === 'off') return;
  const evaluations = await evaluationsOf(trx, agent, current.since, EVALUATIONS_READ);
  const next = nextSwitch(current, evaluations, new Date().toISOString());
  if (next.enhancement === 'on') return;
  await trx
    .insertInto('enhancement_switches')
    .values({
      agent,
      enhancement: 'off',
      reason: next.reason,
      sentence: next.sentence,
      judgement: jsonParameter(next.judgement),
      by: BY_RULE,
    })
    .execute();
};

/** The latest evaluations of an agent, oldest first, in core's form. */
export const evaluationsOf = async (
  db: Kysely<Tables>,
  agent: string,
  since: string | null,
  limit: number,
): Promise<Evaluation[]> => {
  let query = db
    .selectFrom('retry_monitors')
    .select([
      'run_id',
      'step_id',
      'agent',
      'model',
      'subject',
      'attempt_list',
      'other_ms',
      'other_cost_micro_usd',
      'arm',
    ])
    .where('agent', '=', agent)
    // Older rows have no list of attempts.
    .where(sql<boolean>`attempt_list <> '[]'::jsonb`);
  if (since !== null) query = query.where(sql<boolean>`created_at >= ${since}::timestamptz`);
  const rows = await query.orderBy('id', 'desc').limit(limit).execute();
  return rows.map(toEvaluation).reverse();
};
