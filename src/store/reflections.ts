import { z } from 'zod';
import { sql } from 'kysely';
import type { Kysely } from 'kysely';
import { cleanText } from './clean-text.ts';
import { isMissingReference, StoreInputError } from './store-errors.ts';
import { agreeOnValues } from './reflection-claims.ts';
import { persistReflection } from './reflection-persist.ts';
import { createReflectionRecall } from './reflection-recall.ts';
import type { ReflectionAction, Tables } from './tables.ts';
import { parseInput } from './validation.ts';

export interface ReflectionUse {
  /** Derived from run, step and attempt, so that a repeated report counts as one use. */
  use_id: string;
  reflection_id: number;
  run_id: string;
  /** Whether the attempt that was shown the lesson succeeded. */
  succeeded: boolean;
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
    action: z.enum(['retire', 'pin', 'unpin', 'edit']),
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

  recordUses: async (uses: readonly ReflectionUse[]): Promise<{ written: number }> => {
    if (uses.length === 0) return { written: 0 };
    const rows = uses
      .map((use) => ({ ...use, use_id: cleanText(use.use_id), run_id: cleanText(use.run_id) }))
      .sort((left, right) => (left.use_id < right.use_id ? -1 : 1));
    const result = await db
      .insertInto('reflection_uses')
      .values(rows)
      .onConflict((conflict) => conflict.column('use_id').doNothing())
      .executeTakeFirst()
      .catch(refuseUnknownReflection);
    return { written: Number(result.numInsertedOrUpdatedRows ?? 0) };
  },

  /** Retires, pins, unpins or edits a lesson for a person. */
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
    return { ...row, created_at: created_at.toISOString() };
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

const refuseUnknownReflection = (error: unknown): never => {
  if (isMissingReference(error)) throw new StoreInputError('reflection_id', 'there is no such reflection');
  throw error;
};
