import { sql } from 'kysely';
import type { Kysely } from 'kysely';
import { normalHash } from '../core/recall/normal-form.ts';
import { nameWords, readSearchedText } from '../core/recall/search-words.ts';
import { cleanText, jsonParameter } from './clean-text.ts';
import type { RecallPart, Tables } from './tables.ts';

/** Where a text belongs, and whose it is. */
interface TextOf {
  scope_key: string;
  reflection_id?: number;
  fingerprint?: string | null;
  part: RecallPart;
  tool_name?: string | null;
  error_code?: string | null;
}

export interface RecallText extends TextOf {
  text?: string | null;
  normal_hash?: string | null;
  words: string[];
  passing: string[];
}

/** The scope of the failures of a tenant. */
export const failureScope = (tenant: string | null | undefined): string =>
  typeof tenant === 'string' ? `tenant:${cleanText(tenant)}/failures` : 'failures';

/** A message or a lesson, made searchable. */
export const searchableText = (of: TextOf, text: string): RecallText => ({
  ...of,
  // The content of a lesson is in its own table.
  text: of.part === 'content' ? null : text,
  normal_hash: normalHash(text),
  ...readSearchedText(text),
});

/** The names of tools and codes, so that people can search for them. */
export const searchableNames = (of: Omit<TextOf, 'part'>, ...names: (string | null | undefined)[]): RecallText => ({
  ...of,
  part: 'names',
  words: nameWords(...names),
  passing: [],
});

/** Adds texts to the index. A failure that is known in its scope is left out. */
export async function writeRecallTexts(db: Kysely<Tables>, texts: readonly RecallText[]): Promise<void> {
  if (texts.length === 0) return;
  await sql`
    with written as (
      insert into recall_texts (
        scope_key, reflection_id, fingerprint, part, tool_name, error_code, text, normal_hash, words, passing
      )
      select * from jsonb_to_recordset(${jsonParameter(texts)}::jsonb) as r (
        scope_key text, reflection_id bigint, fingerprint text, part text, tool_name text, error_code text, text text,
        normal_hash text, words text[], passing text[]
      )
      on conflict (scope_key, fingerprint, part) where reflection_id is null do nothing
      returning id, scope_key, words, passing
    )
    insert into recall_words (word, scope_key, text_id)
    select distinct unnest(words || passing), scope_key, id from written`.execute(db);
}
