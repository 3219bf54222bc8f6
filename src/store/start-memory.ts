import { sql } from 'kysely';
import type { Kysely } from 'kysely';
import { familyOf } from '../core/guardrails/loop-ids.ts';
import { findChangedTool, schemasOfTools } from '../core/lessons/changed-schema.ts';
import { type Lesson, MAX_LESSONS, rankLessons } from '../core/lessons/rank-lessons.ts';
import { firstCodePoints } from '../core/lessons/unicode-text.ts';
import { isWithheld, shareWithheld } from '../core/lessons/assignment.ts';
import { defined } from '../protocol/json.ts';
import { EMPTY_START_MEMORY } from '../protocol/lessons.ts';
import type { RunLesson, StartMemory, ToolSchemas } from '../protocol/lessons.ts';
import { CAP } from '../protocol/caps.ts';
import { REVIEW } from '../protocol/names.ts';
import type { PreparedRun } from '../protocol/run.ts';
import { within } from '../protocol/within.ts';
import { createBiasCounts } from './bias-counts.ts';
import { cleanText } from './clean-text.ts';
import { lessonId } from './reflection-recall.ts';
import { type Reader, readableScopes } from './reflection-scope.ts';
import type { LessonStatus, Tables } from './tables.ts';

/** How long a start waits for the memory of earlier runs, which is useful but not required. */
const DEADLINE_MS = 2_000;

/**
 * Reads what earlier runs left for a run that is about to start. If it cannot be read in time, the result is empty and
 * `log` is called with the reason.
 */
export async function loadStartMemory(
  memory: Pick<StartMemoryReader, 'read'>,
  prepared: PreparedRun,
  { log, deadlineMs = DEADLINE_MS }: { log?: (reason: string) => void; deadlineMs?: number } = {},
): Promise<StartMemory> {
  try {
    return await within(deadlineMs, () => memory.read(prepared));
  } catch (error) {
    log?.(error instanceof Error ? error.message : String(error));
    return EMPTY_START_MEMORY;
  }
}

export interface StartMemoryReader {
  read(run: PreparedRun): Promise<StartMemory>;
  /** The best lessons about these tools, ranked by `rankLessons`. */
  lessons(query: Reader & LessonsQuery): Promise<KnownLesson[]>;
  /** The lessons that a run starts with: as many as it may see, and those that are withheld from it. */
  lessonsFor(run: StartingRun): Promise<StartLesson[]>;
}

export interface LessonsQuery {
  tools: readonly string[];
  /** The present schemas of these tools. Lessons that were learnt under others are left out, unless a person pinned them. */
  schemas?: ToolSchemas;
  limit?: number;
}

export type StartingRun = Pick<PreparedRun, 'run_id' | 'agent' | 'tenant' | 'policy' | 'manifest' | 'planner'>;

export interface KnownLesson {
  id: number;
  content: string;
  tools: string[];
  fingerprint: string | null;
  pinned: boolean;
  status: LessonStatus;
  phase: string;
}

/** A lesson that a run would start with, and whether it is withheld to measure it. */
export interface StartLesson extends KnownLesson {
  withheld: boolean;
}

export const createStartMemory = (db: Kysely<Tables>): StartMemoryReader => {
  const lessons: StartMemoryReader['lessons'] = (query) => bestLessons(db, readableScopes(query), query);
  const lessonsFor: StartMemoryReader['lessonsFor'] = async ({ run_id, agent, tenant, policy, manifest, planner }) => {
    const { scope, holdout } = policy.memory;
    if (scope === 'run') return [];
    // Only a planner can act on what a review found.
    const tools = [...Object.keys(manifest), ...(planner === 'chooses' ? [REVIEW] : [])];
    const schemas = schemasOfTools(manifest, tools);
    const found = await lessons({ scope, agent, tenant, tools, schemas, limit: 2 * MAX_LESSONS });
    const sorted = found.map((lesson) => {
      const share = shareWithheld(trialOf(lesson), holdout);
      return { ...lesson, withheld: isWithheld(run_id, lesson.id, share) };
    });
    // A withheld lesson does not take the place of one that is shown.
    const shown = sorted.filter(({ withheld }) => !withheld).slice(0, MAX_LESSONS);
    return sorted.filter((lesson) => lesson.withheld || shown.includes(lesson));
  };
  return {
    lessons,
    lessonsFor,
    read: async (run) => {
      const { agent, policy, loop_id } = run;
      const [known, enhancement, elsewhere] = await Promise.all([
        lessonsFor(run),
        enhancementOf(db, agent),
        policy.bias.scope === 'global' ? createBiasCounts(db).elsewhere(familyOf(loop_id), run.tenant ?? null) : null,
      ]);
      return { lessons: known.map(toRunLesson), enhancement, bias_elsewhere: elsewhere };
    },
  };
};

const MAX_TOOLS = 20;

/** A lesson as a run carries it, capped because it is part of the run's state. */
export const toRunLesson = (lesson: KnownLesson): RunLesson => ({
  reflection_id: lesson.id,
  content: firstCodePoints(lesson.content, CAP.lessonChars),
  tools: lesson.tools.slice(0, MAX_TOOLS),
  fingerprint: lesson.fingerprint,
  ...defined({ trial: trialOf(lesson) }),
});

/** A pinned lesson is not on trial, because a person has decided. */
const trialOf = ({ pinned, status, phase }: KnownLesson): RunLesson['trial'] =>
  pinned || status === 'quarantined' ? undefined : { status, phase };

/** Whether the agent's retries enhance prompts, and if not, why. The default is on. */
async function enhancementOf(db: Kysely<Tables>, agent: string): Promise<StartMemory['enhancement']> {
  const latest = await db
    .selectFrom('enhancement_switches')
    .select(['enhancement', 'sentence'])
    .where('agent', '=', cleanText(agent))
    .orderBy('id', 'desc')
    .limit(1)
    .executeTakeFirst();
  return latest?.enhancement === 'off' ? { on: false, why: latest.sentence ?? '' } : { on: true };
}

/** Far more than are shown, so that one page is nearly always enough. */
const PAGE = 200;

interface Candidate extends KnownLesson {
  uses: number;
  successes: number;
  last_seen_at: Date;
  /** Of its tools, when it was learnt, each combination once. */
  schemas: ToolSchemas[];
}
interface RankedLesson extends Lesson {
  known: KnownLesson;
}

/**
 * The best lessons first. `rankLessons` decides; the database returns candidates in the same order, so that thousands
 * of lessons need not be read. Only `rankLessons` can tell whether a text mentions a tool as a separate word, so
 * further pages are read until enough candidates have passed.
 */
async function bestLessons(
  db: Kysely<Tables>,
  scopes: readonly string[],
  { tools: toolNames, schemas = {}, limit = MAX_LESSONS }: LessonsQuery,
): Promise<KnownLesson[]> {
  const tools = [...new Set(toolNames.map(cleanText))].filter((name) => name !== '');
  if (tools.length === 0 || limit <= 0) return [];
  const found: RankedLesson[] = [];
  for (let page = 0; ; page += 1) {
    const rows = await candidates(db, scopes, tools, page);
    const valid = rows.filter((row) => row.pinned || findChangedTool(row.schemas, schemas) === null);
    if (valid.length > 0) found.push(...rankLessons(valid.map(toLesson), tools, limit));
    if (found.length >= limit || rows.length < PAGE) break;
  }
  return found.length === 0 ? [] : rankLessons(found, tools, limit).map(({ known }) => known);
}

const toLesson = ({ uses, successes, last_seen_at, schemas: _judged, ...known }: Candidate): RankedLesson => ({
  id: lessonId(known.id),
  content: known.content,
  tools: known.tools,
  pinned: known.pinned,
  uses,
  successes,
  last_seen_at: last_seen_at.toISOString(),
  known,
});

/**
 * Candidates in the order of `rankLessons`. Times are compared in milliseconds, as in JavaScript. The success rate is a
 * quotient of whole numbers in double precision, which keeps the exact order for fewer than 2^26 uses.
 */
async function candidates(
  db: Kysely<Tables>,
  scopes: readonly string[],
  tools: readonly string[],
  page: number,
): Promise<Candidate[]> {
  const { rows } = await sql<Candidate>`
    with lesson as (
      select id, content, tools, fingerprint, created_at from reflections
      where scope_key = any(${scopes}::text[]) and (tools = '{}' or tools && ${tools}::text[])
    ),
    said as (
      select
        reflection_id,
        (array_agg(action order by id desc) filter (where action in ('retire', 'restore')))[1] = 'retire' as retired,
        (array_agg(action order by id desc) filter (where action in ('pin', 'unpin')))[1] = 'pin' as pinned,
        (array_agg(content order by id desc) filter (where action = 'edit'))[1] as edited,
        max(id) filter (where action in ('edit', 'restore')) as reset_id,
        max(created_at) filter (where action in ('edit', 'restore')) as reset_at
      from reflection_revisions where reflection_id in (select id from lesson)
      group by reflection_id
    ),
    judged as (
      select distinct on (reflection_id) reflection_id, id as verdict_id, status, created_at as judged_at
      from reflection_verdicts where reflection_id in (select id from lesson)
      order by reflection_id, id desc
    ),
    used as (
      select reflection_id, count(*) as uses, count(*) filter (where succeeded) as successes
      from reflection_uses where reflection_id in (select id from lesson)
      group by reflection_id
    ),
    seen as (
      select
        reflection_id,
        max(created_at) as last_at,
        jsonb_agg(distinct tool_schemas) filter (where tool_schemas is not null) as schemas
      from reflection_occurrences where reflection_id in (select id from lesson)
      group by reflection_id
    ),
    current as (
      select
        lesson.id,
        coalesce(said.edited, lesson.content) as content,
        lesson.tools,
        lesson.fingerprint,
        coalesce(said.pinned, false) as pinned,
        case when judged.judged_at > coalesce(said.reset_at, '-infinity') then judged.status else 'candidate' end as status,
        case
          when judged.judged_at > coalesce(said.reset_at, '-infinity') then 'v' || judged.verdict_id
          when said.reset_id is not null then 'r' || said.reset_id
          else '0'
        end as phase,
        coalesce(used.uses, 0) as uses,
        coalesce(used.successes, 0) as successes,
        date_trunc('milliseconds', coalesce(seen.last_at, lesson.created_at)) as last_seen_at,
        coalesce(seen.schemas, '[]') as schemas
      from lesson
      left join said on said.reflection_id = lesson.id
      left join judged on judged.reflection_id = lesson.id
      left join used on used.reflection_id = lesson.id
      left join seen on seen.reflection_id = lesson.id
      where not coalesce(said.retired, false)
    )
    select * from current
    where (status <> 'quarantined' or pinned)
      and (tools <> '{}' or exists (select from unnest(${tools}::text[]) as tool where strpos(content, tool) > 0))
    order by pinned desc, (successes + 1)::float8 / (uses + 2) desc, last_seen_at desc, id
    limit ${PAGE} offset ${page * PAGE}`.execute(db);
  return rows;
}
