import { sql } from 'kysely';
import type { Kysely, Migration } from 'kysely';
import { normalHash } from '../../core/recall/normal-form.ts';
import { nameWords, readSearchedText } from '../../core/recall/search-words.ts';
import { makeAppendOnly } from './append-only.ts';

/** The texts by which lessons and known failures are found, and the tenant of a failure. */
export const recallTexts: Migration = {
  up: async (db) => {
    await sql`alter table failure_records add column tenant text collate "C"`.execute(db);
    await sql`
      create index failure_records_tenant on failure_records (tenant, created_at) where tenant is not null`.execute(db);
    await createTexts(db);
    await fillLessons(db);
    await fillFailures(db);
  },
};

const createTexts = async (db: Kysely<unknown>): Promise<void> => {
  // Of a lesson: the errors it was learnt from, its content, and its names. Of a failure, once per tenant and fingerprint:
  // its message and its names.
  await sql`
    create table recall_texts (
      id bigint generated always as identity primary key,
      scope_key text collate "C" not null,
      reflection_id bigint references reflections (id),
      fingerprint text collate "C",
      part text collate "C" not null check (part in ('error', 'content', 'failure', 'names')),
      tool_name text collate "C",
      error_code text collate "C",
      text text,
      normal_hash text collate "C",
      words text[] not null,
      passing text[] not null
    )`.execute(db);
  await sql`create index recall_texts_fingerprint on recall_texts (scope_key, fingerprint)`.execute(db);
  await sql`create index recall_texts_normal on recall_texts (scope_key, normal_hash)`.execute(db);
  await sql`create index recall_texts_lesson on recall_texts (reflection_id, part, id)`.execute(db);
  await sql`
    create unique index recall_texts_failure on recall_texts (scope_key, fingerprint, part)
    where reflection_id is null`.execute(db);
  await makeAppendOnly(db, 'recall_texts');
  // One row per word instead of an array with an inverted index: a search reads only the lists of its own scope, they can be counted
  // cheaply, and beginnings of words are found too. It needs no extension.
  await sql`
    create table recall_words (
      word text collate "C" not null,
      scope_key text collate "C" not null,
      text_id bigint not null references recall_texts (id),
      primary key (word, scope_key, text_id)
    )`.execute(db);
  await makeAppendOnly(db, 'recall_words');
};

const BATCH = 500;

const fillLessons = async (db: Kysely<unknown>): Promise<void> => {
  for (let after = 0; ;) {
    const { rows } = await sql<{
      id: number;
      scope_key: string;
      fingerprint: string | null;
      content: string;
      tools: string[];
    }>`
      select id, scope_key, fingerprint, content, tools from reflections where id > ${after} order by id limit ${BATCH}`.execute(
      db,
    );
    if (rows.length === 0) return;
    await write(
      db,
      rows.flatMap(({ id, scope_key, fingerprint, content, tools }) => [
        {
          scope_key,
          fingerprint,
          reflection_id: id,
          part: 'content',
          normal_hash: normalHash(content),
          ...readSearchedText(content),
        },
        { scope_key, reflection_id: id, part: 'names', words: nameWords(...tools), passing: [] },
      ]),
    );
    after = rows.at(-1)?.id ?? after;
  }
};

const fillFailures = async (db: Kysely<unknown>): Promise<void> => {
  for (let after = ''; ;) {
    const { rows } = await sql<{
      fingerprint: string;
      tool_name: string | null;
      error_code: string | null;
      text: string | null;
    }>`
      select distinct on (fingerprint)
        fingerprint, attempted_action->>'tool_name' as tool_name, observed_outcome->>'error_code' as error_code,
        observed_outcome->>'message_preview' as text
      from failure_records where fingerprint > ${after} order by fingerprint, created_at desc limit ${BATCH}`.execute(
      db,
    );
    if (rows.length === 0) return;
    await write(
      db,
      rows.flatMap(({ text, ...failure }) => [
        {
          ...failure,
          scope_key: 'failures',
          part: 'failure',
          text,
          normal_hash: normalHash(text ?? ''),
          ...readSearchedText(text ?? ''),
        },
        {
          ...failure,
          scope_key: 'failures',
          part: 'names',
          words: nameWords(failure.tool_name, failure.error_code),
          passing: [],
        },
      ]),
    );
    after = rows.at(-1)?.fingerprint ?? after;
  }
};

const write = async (db: Kysely<unknown>, rows: readonly object[]): Promise<void> => {
  await sql`
    with written as (
      insert into recall_texts (
        scope_key, reflection_id, fingerprint, part, tool_name, error_code, text, normal_hash, words, passing
      )
      select * from jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) as r (
        scope_key text, reflection_id bigint, fingerprint text, part text, tool_name text, error_code text, text text,
        normal_hash text, words text[], passing text[]
      )
      returning id, scope_key, words, passing
    )
    insert into recall_words (word, scope_key, text_id)
    select distinct unnest(words || passing), scope_key, id from written`.execute(db);
};
