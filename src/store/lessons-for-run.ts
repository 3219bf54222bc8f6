import { sql } from 'kysely';
import type { Kysely } from 'kysely';
import { rankLessons } from '../core/reflections/rank-lessons.ts';
import type { Lesson } from '../core/reflections/rank-lessons.ts';
import { cleanText } from './clean-text.ts';
import type { Tables } from './tables.ts';

/** Far more than are shown, so that one page nearly always holds them. */
const PAGE = 200;
const ID_DIGITS = 16;

/** Ids are compared as text by the rule that ranks; with equal lengths that is their order as numbers. */
export const lessonId = (id: number): string => String(id).padStart(ID_DIGITS, '0');

interface Candidate {
  id: number;
  content: string;
  tools: string[];
  pinned: boolean;
  uses: number;
  successes: number;
  last_seen_at: Date;
}

/**
 * Ids of the lessons that a run starts with, best first. `rankLessons` decides; the database gives it candidates in the
 * same order, so that thousands of lessons need not travel. Whether a text mentions a tool as a word of its own is for
 * the rule to say, so pages go on until enough have passed it.
 */
export const lessonsForRun = async (
  db: Kysely<Tables>,
  scopes: readonly string[],
  toolNames: readonly string[],
  limit: number,
): Promise<number[]> => {
  const tools = [...new Set(toolNames.map(cleanText))].filter((name) => name !== '');
  if (tools.length === 0 || limit <= 0) return [];
  const found: Lesson[] = [];
  for (let page = 0; ; page += 1) {
    const rows = await candidates(db, scopes, tools, page);
    found.push(...rankLessons(rows.map(toLesson), tools, limit));
    if (found.length >= limit || rows.length < PAGE) break;
  }
  return rankLessons(found, tools, limit).map((lesson) => Number(lesson.id));
};

const toLesson = (row: Candidate): Lesson => ({
  ...row,
  id: lessonId(row.id),
  last_seen_at: row.last_seen_at.toISOString(),
});

/**
 * In the order of `rankLessons`. Times count to the millisecond, as they do in JavaScript; a quotient of whole numbers as
 * double precision is equal where the fractions are, and never turns an order around below 2^26 uses.
 */
const candidates = async (
  db: Kysely<Tables>,
  scopes: readonly string[],
  tools: readonly string[],
  page: number,
): Promise<Candidate[]> => {
  const { rows } = await sql<Candidate>`
    with lesson as (
      select id, content, tools, created_at from reflections
      where scope_key = any(${scopes}::text[]) and (tools = '{}' or tools && ${tools}::text[])
    ),
    said as (
      select
        reflection_id,
        bool_or(action = 'retire') as retired,
        (array_agg(action order by id desc) filter (where action in ('pin', 'unpin')))[1] = 'pin' as pinned,
        (array_agg(content order by id desc) filter (where action = 'edit'))[1] as edited
      from reflection_revisions where reflection_id in (select id from lesson)
      group by reflection_id
    ),
    used as (
      select reflection_id, count(*) as uses, count(*) filter (where succeeded) as successes
      from reflection_uses where reflection_id in (select id from lesson)
      group by reflection_id
    ),
    seen as (
      select reflection_id, max(created_at) as last_at
      from reflection_occurrences where reflection_id in (select id from lesson)
      group by reflection_id
    ),
    current as (
      select
        lesson.id,
        coalesce(said.edited, lesson.content) as content,
        lesson.tools,
        coalesce(said.pinned, false) as pinned,
        coalesce(used.uses, 0) as uses,
        coalesce(used.successes, 0) as successes,
        date_trunc('milliseconds', coalesce(seen.last_at, lesson.created_at)) as last_seen_at
      from lesson
      left join said on said.reflection_id = lesson.id
      left join used on used.reflection_id = lesson.id
      left join seen on seen.reflection_id = lesson.id
      where not coalesce(said.retired, false)
    )
    select * from current
    where tools <> '{}' or exists (select from unnest(${tools}::text[]) as tool where strpos(content, tool) > 0)
    order by pinned desc, (successes + 1)::float8 / (uses + 2) desc, last_seen_at desc, id
    limit ${PAGE} offset ${page * PAGE}`.execute(db);
  return rows;
};
