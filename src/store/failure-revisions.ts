import { z } from 'zod';
import type { Kysely, Selectable } from 'kysely';
import { hashOfJson } from '../protocol/ids.ts';
import { idSchema } from '../protocol/schemas/failure-record.ts';
import { cleanText } from './clean-text.ts';
import type { Tables } from './tables.ts';
import { parseInput, isoMillis } from './validation.ts';

const newRevisionSchema = z.strictObject({
  run_id: idSchema,
  fingerprint: z.string().min(1).max(200),
  /** The record that the revision refers to. The revision applies to its whole fingerprint. */
  failure_id: idSchema.nullish(),
  kind: z.enum(['resolved', 'superseded', 'shown_helpful', 'shown_harmful']),
  /** The step after which the revision applies. For a person's revision it is the step of the latest occurrence. */
  step_id: z.int().min(0),
  /** The attempt that proved it; missing if a person made the revision. */
  attempt: z.int().min(0).max(2_147_483_647).nullish(),
  by: z.string().min(1).max(200),
  reason: z.string().max(4_000).nullish(),
  created_at: z.iso.datetime(),
});
export type NewFailureRevision = z.infer<typeof newRevisionSchema>;

export type StoredFailureRevision = Omit<Selectable<Tables['failure_revisions']>, 'created_at' | 'recorded_at'> & {
  created_at: string;
};

export const createFailureRevisions = (db: Kysely<Tables>) => ({
  /** Writes revisions. Writing one twice has no effect. */
  append: async (revisions: readonly NewFailureRevision[]): Promise<{ written: number; duplicates: number }> => {
    const rows = revisions.map(toRow).sort((left, right) => (left.revision_id < right.revision_id ? -1 : 1));
    if (rows.length === 0) return { written: 0, duplicates: 0 };
    const result = await db
      .insertInto('failure_revisions')
      .values(rows)
      .onConflict((conflict) => conflict.column('revision_id').doNothing())
      .executeTakeFirst();
    const written = Number(result.numInsertedOrUpdatedRows ?? 0);
    return { written, duplicates: rows.length - written };
  },

  /** Oldest first. */
  forRun: async (runId: string): Promise<StoredFailureRevision[]> => {
    const rows = await db
      .selectFrom('failure_revisions')
      .selectAll()
      .where('run_id', '=', cleanText(runId))
      .orderBy('created_at')
      .orderBy('step_id')
      .orderBy('revision_id')
      .execute();
    return rows.map(({ recorded_at: _ours, created_at, ...row }) => ({ ...row, created_at: created_at.toISOString() }));
  },
});

/**
 * The id of a revision: its kind, fingerprint, attempt and author. A person's revision has no attempt, so its time is
 * included. That tells a new revision, after the failure came back, from a repeated write.
 */
const revisionIdOf = (revision: NewFailureRevision): string =>
  hashOfJson([
    revision.run_id,
    cleanText(revision.fingerprint),
    revision.kind,
    revision.step_id,
    revision.attempt ?? isoMillis(revision.created_at),
    cleanText(revision.by),
  ]);

const toRow = (input: NewFailureRevision) => {
  const revision = parseInput(newRevisionSchema, input);
  return {
    ...revision,
    revision_id: revisionIdOf(revision),
    fingerprint: cleanText(revision.fingerprint),
    failure_id: revision.failure_id ?? null,
    attempt: revision.attempt ?? null,
    by: cleanText(revision.by),
    reason: typeof revision.reason === 'string' ? cleanText(revision.reason) : null,
    created_at: isoMillis(revision.created_at),
  };
};
