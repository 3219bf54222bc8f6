import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import { sql } from 'kysely';
import type { Kysely, Transaction } from 'kysely';
import { findNearIdentical } from '../core/lessons/near-identical.ts';
import { hasSameRemedy } from '../core/lessons/same-remedy.ts';
import { CAP } from '../protocol/caps.ts';
import { TENANT_PATTERN } from '../protocol/ids.ts';
import { cleanText, jsonParameter } from './clean-text.ts';
import { searchableNames, searchableText, writeRecallTexts } from './recall-texts.ts';
import { lessonId } from './reflection-recall.ts';
import { prepareSearch, scopeKey } from './reflection-scope.ts';
import type { Tables } from './tables.ts';
import { parseInput } from './validation.ts';

const name = z.string().min(1).max(CAP.nameChars);

const newReflectionSchema = z
  .strictObject({
    scope: z.enum(['agent', 'global']),
    /** The agent that learnt it. */
    agent: name.nullable(),
    /** Whose runs may see it; without one, only runs without a tenant. */
    tenant: z.string().regex(TENANT_PATTERN).nullish(),
    error_type: name,
    error_signature: name,
    /** The fingerprint of the failure it was learnt from; missing for an imported lesson. */
    fingerprint: z.string().min(1).max(200).nullish(),
    /** The message of that failure, without secrets, and its code. The lesson is found by them, also in other words. */
    error_text: z.string().max(CAP.textChars).nullish(),
    error_code: z.string().max(200).nullish(),
    content: z.string().min(1).max(CAP.textChars),
    rationale: z.string().max(CAP.textChars),
    tags: z.array(z.string().max(300)).max(50),
    /** The tools it is about; none means any tool. */
    tools: z.array(name).max(50).optional(),
    /** The hash of the schema of each of these tools. */
    tool_schemas: z.record(z.string(), z.string().max(80)).optional(),
    context: z.strictObject({
      error_signature: z.string(),
      original_query: z.string(),
      iteration_count: z.number(),
      quality_improvement: z.number(),
      reflection_context: z.string(),
    }),
    run_id: name.nullish(),
    /**
     * Derived from run, step and attempt, so that a repeated write counts as one occurrence. Without it, every call is
     * one.
     */
    occurrence_id: z.string().min(1).max(300).optional(),
    /** From the policy. With 1, only identical texts count as repetitions. */
    similarity_threshold: z.number().min(0).max(1),
  })
  .refine((reflection) => reflection.scope === 'global' || reflection.agent !== null, {
    path: ['agent'],
    message: "a lesson of scope 'agent' needs the name of its agent",
  });
export type NewReflection = z.infer<typeof newReflectionSchema>;

export interface PersistedReflection {
  id: number;
  /** True if a row was added. Otherwise an occurrence was added to lesson `id`. */
  stored: boolean;
  deduplicated: boolean;
  /** The similarity of the two; 1 for an equal signature. */
  similarity: number;
  occurrence_count: number;
}

export const persistReflection =
  (db: Kysely<Tables>) =>
  async (input: NewReflection): Promise<PersistedReflection> => {
    const reflection = parseInput(newReflectionSchema, input);
    const occurrenceId = cleanText(reflection.occurrence_id ?? randomUUID());
    return db.transaction().execute(async (trx) => {
      // One writer at a time per scope and type, because no unique index can prevent near-identical lessons.
      const key = scopeKey(reflection);
      const errorType = cleanText(reflection.error_type);
      await sql`select pg_advisory_xact_lock(hashtextextended(${`${key}\n${errorType}`}, 3))`.execute(trx);

      const before = await occurrenceOf(trx, occurrenceId);
      if (before) return answer(trx, before.reflection_id, before.stored, before.similarity);

      const known =
        (await sameSignature(trx, key, errorType, reflection)) ?? (await mostSimilar(trx, key, errorType, reflection));
      const match = known ?? { id: await insert(trx, reflection, key, errorType), similarity: 1 };
      await addError(trx, match.id, key, reflection);
      await trx
        .insertInto('reflection_occurrences')
        .values({
          occurrence_id: occurrenceId,
          reflection_id: match.id,
          stored: known === undefined,
          run_id: typeof reflection.run_id === 'string' ? cleanText(reflection.run_id) : null,
          similarity: match.similarity,
          tool_schemas: reflection.tool_schemas === undefined ? null : jsonParameter(reflection.tool_schemas),
        })
        .execute();
      return answer(trx, match.id, known === undefined, match.similarity);
    });
  };

interface Match {
  id: number;
  similarity: number;
}

const occurrenceOf = (trx: Transaction<Tables>, occurrenceId: string) =>
  trx
    .selectFrom('reflection_occurrences')
    .select(['reflection_id', 'stored', 'similarity'])
    .where('occurrence_id', '=', occurrenceId)
    .executeTakeFirst();

const sameSignature = async (
  trx: Transaction<Tables>,
  key: string,
  errorType: string,
  reflection: NewReflection,
): Promise<Match | undefined> => {
  const row = await trx
    .selectFrom('reflections')
    .select('id')
    .where('scope_key', '=', key)
    .where('error_signature', '=', cleanText(reflection.error_signature))
    .where('error_type', '=', errorType)
    .executeTakeFirst();
  return row && { id: row.id, similarity: 1 };
};

/** A lesson that is learnt again from another error is found by that error too. */
const ERRORS_PER_LESSON = 20;

const addError = async (
  trx: Transaction<Tables>,
  id: number,
  scope_key: string,
  { error_text, error_code, fingerprint, tools }: NewReflection,
): Promise<void> => {
  const text = error_text ?? '';
  if (text === '' && typeof fingerprint !== 'string') return;
  const of = { scope_key, reflection_id: id, part: 'error' as const, tool_name: tools?.[0] ?? null };
  const added = searchableText({ ...of, fingerprint: fingerprint ?? null, error_code: error_code ?? null }, text);
  const { rows } = await sql<{ known: boolean; errors: number }>`
    select
      count(*)::int as errors,
      coalesce(bool_or(
        normal_hash is not distinct from ${added.normal_hash}::text and fingerprint is not distinct from ${fingerprint ?? null}::text
      ), false) as known
    from recall_texts where reflection_id = ${id}::bigint and part = 'error'`.execute(trx);
  if (rows[0]?.known === true || (rows[0]?.errors ?? 0) >= ERRORS_PER_LESSON) return;
  await writeRecallTexts(trx, [added]);
};

/** How many similar lessons are compared. Beyond that, none is similar enough to matter. */
const SIMILAR_CANDIDATES = 20;

/** The best match, and of equal matches the oldest. Retired lessons are ignored. */
const mostSimilar = async (
  trx: Transaction<Tables>,
  key: string,
  errorType: string,
  reflection: NewReflection,
): Promise<Match | undefined> => {
  await prepareSearch(trx, { similarity: reflection.similarity_threshold });
  const content = cleanText(reflection.content);
  const { rows } = await sql<{ id: number; content: string; created_at: Date; error_signature: string }>`
    select t.reflection_id as id, t.content, r.created_at, r.error_signature
    from reflection_texts as t join reflections as r on r.id = t.reflection_id
    where t.scope_key = ${key} and t.error_type = ${errorType} and t.content % ${content}
      and coalesce(
        (
          select v.action = 'restore' from reflection_revisions as v
          where v.reflection_id = t.reflection_id and v.action in ('retire', 'restore')
          order by v.id desc limit 1
        ),
        true
      )
    order by similarity(t.content, ${content}) desc, t.reflection_id
    limit ${SIMILAR_CANDIDATES}`.execute(trx);
  // Similar is not the same: a lesson that corrects another one has nearly all its words.
  const known = rows
    .filter((row) => hasSameRemedy(row.content, content))
    .map((row) => ({ ...row, id: lessonId(row.id), number: row.id, created_at: row.created_at.toISOString() }));
  const match = findNearIdentical(
    { content, error_signature: reflection.error_signature },
    known,
    reflection.similarity_threshold,
  );
  return match === null ? undefined : { id: match.known.number, similarity: match.score };
};

const insert = async (
  trx: Transaction<Tables>,
  reflection: NewReflection,
  key: string,
  errorType: string,
): Promise<number> => {
  const content = cleanText(reflection.content);
  const { id } = await trx
    .insertInto('reflections')
    .values({
      scope: reflection.scope,
      agent: reflection.agent === null ? null : cleanText(reflection.agent),
      tenant: reflection.tenant ?? null,
      error_type: errorType,
      error_signature: cleanText(reflection.error_signature),
      fingerprint: typeof reflection.fingerprint === 'string' ? cleanText(reflection.fingerprint) : null,
      content,
      rationale: cleanText(reflection.rationale),
      tags: reflection.tags.map(cleanText),
      tools: (reflection.tools ?? []).map(cleanText),
      context: jsonParameter(reflection.context),
    })
    .returning('id')
    .executeTakeFirstOrThrow();
  await trx
    .insertInto('reflection_texts')
    .values({ reflection_id: id, scope_key: key, error_type: errorType, content })
    .execute();
  const of = { scope_key: key, reflection_id: id };
  await writeRecallTexts(trx, [
    searchableText({ ...of, part: 'content', fingerprint: reflection.fingerprint ?? null }, content),
    searchableNames(of, ...(reflection.tools ?? []), reflection.error_code),
  ]);
  return id;
};

const answer = async (
  trx: Transaction<Tables>,
  id: number,
  stored: boolean,
  similarity: number,
): Promise<PersistedReflection> => {
  const { count } = await trx
    .selectFrom('reflection_occurrences')
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .where('reflection_id', '=', id)
    .executeTakeFirstOrThrow();
  return { id, stored, deduplicated: !stored, similarity, occurrence_count: count };
};
