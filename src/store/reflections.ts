import { z } from 'zod';
import { sql } from 'kysely';
import type { Kysely } from 'kysely';
import { cleanText } from './clean-text.ts';
import { isMissingReference, StoreInputError } from './store-errors.ts';
import { agreeOnValues } from './reflection-claims.ts';
import type { LessonUse, ToolSchemas } from '../protocol/lessons.ts';
import { persistReflection } from './reflection-persist.ts';
import { createReflectionRecall } from './reflection-recall.ts';
import { searchableText, writeRecallTexts } from './recall-texts.ts';
import { createReflectionTrials, recordTrials } from './reflection-trials.ts';
import type { ReflectionAction, Tables } from './tables.ts';
import { parseInput } from './validation.ts';

export interface ReflectionUse {
  /** Derived from run, step and attempt, so that a repeated report counts as one use. */
  use_id: string;
  reflection_id: number;
  run_id: string;
  /** Whether the attempt that was shown the lesson succeeded. */
  succeeded: boolean;
  /** The observation that a run gives to the trial of a lesson. */
  trial?: LessonUse['trial'];
}

export interface ReflectionRevision {
  id: number;
  reflection_id: number;
  action: ReflectionAction;
  content: string | null;
  by: string;
  reason: string | null;
  created_at: string;
}

const newRevisionSchema = z
  .strictObject({
    reflection_id: z.int().positive(),
    action: z.enum(['retire', 'restore', 'pin', 'unpin', 'edit']),
    content: z.string().min(1).max(4_000).optional(),
    by: z.string().min(1).max(200),
    reason: z.string().max(4_000).optional(),
  })
  .refine((revision) => (revision.action === 'edit') === (revision.content !== undefined), {
    path: ['content'],
    message: 'content is required for an edit and not allowed otherwise',
  });
export type NewReflectionRevision = z.infer<typeof newRevisionSchema>;

/** Lessons of all runs. Rows never change: occurrences, uses and people's changes are separate rows. */
export const createReflections = (db: Kysely<Tables>) => ({
  persist: persistReflection(db),
  agreeOn: agreeOnValues(db),
  ...createReflectionRecall(db),

  ...createReflectionTrials(db),

  /** Records whether attempts that saw lessons succeeded, and what runs observed of lessons on trial. */
  recordUses: async (uses: readonly ReflectionUse[]): Promise<{ written: number }> => {
    await recordTrials(db, uses);
    const rows = uses
      .filter(({ trial }) => trial === undefined)
      .map(({ trial: _none, ...use }) => ({ ...use, use_id: cleanText(use.use_id), run_id: cleanText(use.run_id) }))
      .sort((left, right) => (left.use_id < right.use_id ? -1 : 1));
    if (rows.length === 0) return { written: 0 };
    const result = await db
      .insertInto('reflection_uses')
      .values(rows)
      .onConflict((conflict) => conflict.column('use_id').doNothing())
      .executeTakeFirst()
      .catch(refuseUnknownReflection);
    return { written: Number(result.numInsertedOrUpdatedRows ?? 0) };
  },

  /** Retires, restores, pins, unpins or edits a lesson for a person. A restore also ends a quarantine. */
  revise: async (input: NewReflectionRevision): Promise<ReflectionRevision> => {
    const revision = parseInput(newRevisionSchema, input);
    const { created_at, ...row } = await db
      .insertInto('reflection_revisions')
      .values({
        reflection_id: revision.reflection_id,
        action: revision.action,
        content: revision.content === undefined ? null : cleanText(revision.content),
        by: cleanText(revision.by),
        reason: revision.reason === undefined ? null : cleanText(revision.reason),
      })
      .returningAll()
      .executeTakeFirstOrThrow()
      .catch(refuseUnknownReflection);
    if (row.content !== null) await searchNewContent(db, row.reflection_id, row.content);
    return { ...row, created_at: created_at.toISOString() };
  },

  /** The schemas under which each of these lessons was learnt, the latest first. */
  schemasOf: async (ids: readonly number[]): Promise<ReadonlyMap<number, ToolSchemas[]>> => {
    const found = new Map<number, ToolSchemas[]>();
    if (ids.length === 0) return found;
    const { rows } = await sql<{ id: number; tool_schemas: ToolSchemas }>`
      select reflection_id as id, tool_schemas from reflection_occurrences
      where reflection_id = any(${[...ids]}::bigint[]) and tool_schemas is not null
      group by reflection_id, tool_schemas
      order by max(created_at) desc`.execute(db);
    for (const { id, tool_schemas } of rows) found.set(id, [...(found.get(id) ?? []), tool_schemas]);
    return found;
  },

  /** The latest times that a lesson was learnt, with the runs that learnt it. */
  occurrencesOf: async (reflectionId: number, limit = 20): Promise<{ run_id: string | null; at: string }[]> => {
    const rows = await db
      .selectFrom('reflection_occurrences')
      .select(['run_id', 'created_at'])
      .where('reflection_id', '=', reflectionId)
      .orderBy('created_at', 'desc')
      .limit(limit)
      .execute();
    return rows.map(({ run_id, created_at }) => ({ run_id, at: created_at.toISOString() }));
  },

  /** The changes that people made to a lesson, oldest first. */
  revisionsOf: async (reflectionId: number): Promise<ReflectionRevision[]> => {
    const rows = await db
      .selectFrom('reflection_revisions')
      .selectAll()
      .where('reflection_id', '=', sql<number>`${reflectionId}::bigint`)
      .orderBy('id')
      .execute();
    return rows.map(({ created_at, ...row }) => ({ ...row, created_at: created_at.toISOString() }));
  },
});

/** A lesson is found by its new text from now on. */
const searchNewContent = async (db: Kysely<Tables>, reflection_id: number, content: string): Promise<void> => {
  const lesson = await db
    .selectFrom('reflections')
    .select('scope_key')
    .where('id', '=', reflection_id)
    .executeTakeFirst();
  if (lesson === undefined) return;
  await writeRecallTexts(db, [searchableText({ ...lesson, reflection_id, part: 'content' }, content)]);
};

const refuseUnknownReflection = (error: unknown): never => {
  if (isMissingReference(error)) throw new StoreInputError('reflection_id', 'there is no such reflection');
  throw error;
};
