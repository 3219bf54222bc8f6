import { sql } from 'kysely';
import type { Migration } from 'kysely';
import { makeAppendOnly } from './append-only.ts';

/**
 * Figures of ended runs for the monitors, the decisions of guards, and what people say about these. Runs that ended before have no
 * figures. The texts of a run stay in the archive, which may be encrypted, so the monitors read these tables only.
 */
export const runFigures: Migration = {
  up: async (db) => {
    await sql`
      create table run_figures (
        run_id text collate "C" primary key,
        agent text collate "C" not null,
        outcome text collate "C" not null,
        ended_at timestamptz not null,
        steps integer not null,
        attempts integer not null,
        cost_micro_usd bigint not null,
        work_ms bigint not null,
        escalations integer not null,
        held_calls integer not null,
        retrievals integer not null,
        with_evidence integer not null,
        waste_attempts integer not null,
        waste_ms bigint not null,
        waste_cost_micro_usd bigint not null,
        stalls integer not null,
        repeated_failures integer not null
      )`.execute(db);
    await sql`create index run_figures_by_time on run_figures (ended_at)`.execute(db);
    await sql`create index run_figures_by_agent on run_figures (agent, ended_at)`.execute(db);
    await makeAppendOnly(db, 'run_figures');
    await sql`
      create table guard_decisions (
        id bigint generated always as identity primary key,
        decision_id text collate "C" not null,
        run_id text collate "C" not null,
        agent text collate "C",
        kind text collate "C" not null check (kind in ('stall', 'escalation', 'guardrail')),
        rule text collate "C" not null,
        action text collate "C" not null
          check (action in ('observe', 'guide', 'ask_human', 'system_error', 'finalize')),
        why text not null,
        loop_id text collate "C" not null,
        step_id integer,
        fingerprint text collate "C",
        decided_at timestamptz not null,
        unique (run_id, decision_id)
      )`.execute(db);
    await sql`create index guard_decisions_by_time on guard_decisions (decided_at, id)`.execute(db);
    await sql`create index guard_decisions_by_agent on guard_decisions (agent, decided_at)`.execute(db);
    await makeAppendOnly(db, 'guard_decisions');
    await sql`
      create table decision_verdicts (
        id bigint generated always as identity primary key,
        run_id text collate "C" not null,
        decision_id text collate "C" not null,
        wrong boolean not null,
        by text not null,
        reason text,
        created_at timestamptz not null default clock_timestamp(),
        foreign key (run_id, decision_id) references guard_decisions (run_id, decision_id)
      )`.execute(db);
    await sql`create index decision_verdicts_of on decision_verdicts (run_id, decision_id, id)`.execute(db);
    await makeAppendOnly(db, 'decision_verdicts');
  },
};
