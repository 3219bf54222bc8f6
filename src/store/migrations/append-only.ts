import { sql } from 'kysely';
import type { Kysely } from 'kysely';

/** The database itself refuses to change history, for every client: a bug, a faulty migration, or a person. */
export const createAppendOnlyGuard = async (db: Kysely<unknown>): Promise<void> => {
  await sql`
    create function secondwind_refuse_change() returns trigger language plpgsql as $$
    begin
      raise exception '% is append-only: % is refused. Write a revision instead.', tg_table_name, tg_op
        using errcode = 'restrict_violation';
    end $$`.execute(db);
};

export const makeAppendOnly = async (db: Kysely<unknown>, table: string): Promise<void> => {
  const trigger = `${table}_append_only`;
  // Per statement, so that even a change that matches no row is refused. ALWAYS, so that it also applies in a
  // replication session.
  await sql`
    create trigger ${sql.ref(trigger)} before update or delete or truncate on ${sql.table(table)}
    for each statement execute function secondwind_refuse_change()`.execute(db);
  await sql`alter table ${sql.table(table)} enable always trigger ${sql.ref(trigger)}`.execute(db);
};
