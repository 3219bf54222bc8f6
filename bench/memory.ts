/** Measures reads and writes of the memory that spans runs, on a Postgres that is started for the benchmark. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sql } from 'kysely';
import { errorSignature } from '../src/core/lessons/signature.ts';
import { startStack } from '../src/stack/start-stack.ts';
import { openDatabase } from '../src/store/connection.ts';
import { migrateToLatest } from '../src/store/migrate.ts';
import { searchableNames, searchableText, writeRecallTexts } from '../src/store/recall-texts.ts';
import { createStore, type Store } from '../src/store/store.ts';
import { measure, named } from './latency.ts';
import { lessonTexts, type LessonToAsk } from './lesson-texts.ts';
import type { Figures } from './report.ts';
import { benchWrites } from './writes.ts';

/** One of ten agents reads; it has 10,000 of 100,000 lessons. */
const AGENTS = 10;
const ASKING = 'agent-3';

export async function benchMemory(quick: boolean): Promise<Figures> {
  const folder = await mkdtemp(join(tmpdir(), 'secondwind-bench-'));
  const stack = await startStack({ dataDir: join(folder, 'data') });
  try {
    await migrateToLatest(stack.databaseUrl);
    const store = createStore(stack.databaseUrl);
    try {
      const lessons = lessonTexts(quick ? 10_000 : 100_000);
      await fill(stack.databaseUrl, lessons);
      const questions = quick ? 100 : 1_000;
      return {
        lessons: lessons.length,
        ...(await ask(store, lessons, questions)),
        ...(await benchWrites(store, quick)),
      };
    } finally {
      await store.close();
    }
  } finally {
    await stack.stop();
    await rm(folder, { recursive: true, force: true });
  }
}

const fingerprintOf = (n: number): string => `fp1:bench:${n}`;

/** Inserts rows in bulk and creates the index afterwards. One by one, as runs write them, it would take minutes. */
async function fill(databaseUrl: string, lessons: LessonToAsk[]): Promise<void> {
  const db = openDatabase({ databaseUrl, maxConnections: 1, statementTimeoutMs: 0 });
  try {
    const found = await sql<{ definition: string }>`
      select pg_get_indexdef('reflection_texts_similar'::regclass) as definition`.execute(db);
    await sql`drop index reflection_texts_similar`.execute(db);
    const rows = lessons.map(({ error_type, content, tool }, n) => ({
      agent: `agent-${n % AGENTS}`,
      error_type,
      signature: errorSignature(error_type, `${n} ${content}`),
      fingerprint: fingerprintOf(n),
      content,
      tool,
    }));
    await sql`
      insert into reflections (
        scope, agent, error_type, error_signature, fingerprint, content, rationale, tags, tools, context
      )
      select
        'agent', row->>'agent', row->>'error_type', row->>'signature', row->>'fingerprint', row->>'content', '', '{}',
        array[row->>'tool'], '{}'
      from jsonb_array_elements(${JSON.stringify(rows)}::jsonb) as row`.execute(db);
    await sql`
      insert into reflection_texts (reflection_id, scope_key, error_type, content)
      select id, scope_key, error_type, content from reflections`.execute(db);
    await sql`
      insert into reflection_occurrences (occurrence_id, reflection_id, stored, similarity)
      select 'bench:' || id, id, true, 1 from reflections`.execute(db);
    await fillTexts(db);
    // The definition as the database reports it, without ONLY, so that the index is created on the parts too.
    await sql.raw((found.rows[0]?.definition ?? '').replace(' ON ONLY ', ' ON ')).execute(db);
    await sql`vacuum analyze`.execute(db);
  } finally {
    await db.destroy();
  }
}

/** What a search compares, as a run's lessons have it. */
async function fillTexts(db: ReturnType<typeof openDatabase>): Promise<void> {
  const rows = await db
    .selectFrom('reflections')
    .select(['id', 'scope_key', 'fingerprint', 'content', 'tools'])
    .execute();
  const texts = rows.flatMap(({ id, scope_key, fingerprint, content, tools }) => [
    searchableText({ scope_key, reflection_id: id, fingerprint, part: 'content' }, content),
    searchableNames({ scope_key, reflection_id: id }, ...tools),
  ]);
  for (let at = 0; at < texts.length; at += 5_000) await writeRecallTexts(db, texts.slice(at, at + 5_000));
}

async function ask({ reflections, startMemory }: Store, lessons: LessonToAsk[], questions: number): Promise<Figures> {
  const reader = { scope: 'agent', agent: ASKING } as const;
  const own = lessons.map((lesson, n) => ({ ...lesson, n })).filter(({ n }) => `agent-${n % AGENTS}` === ASKING);
  const fresh = lessonTexts(questions, 99);
  const known = (n: number) => own[(n * 7) % own.length] ?? own[0];
  const failure = (lesson: LessonToAsk | undefined, fingerprint: string) => ({
    ...reader,
    error_type: lesson?.error_type ?? '',
    description: lesson?.description ?? '',
    fingerprint,
  });
  const tools = [...new Set(lessons.map(({ tool }) => tool))].slice(0, 5);
  let found = 0;
  const figures = {
    ...named(
      'recall_by_fingerprint',
      await measure(questions, async (n) => {
        found += (await reflections.recallForFailure(failure(known(n), fingerprintOf(known(n)?.n ?? 0)))).length;
      }),
    ),
    ...named(
      'recall_by_signature',
      await measure(questions, async (n) => {
        const { error_type = '', content = '', n: number = 0 } = known(n) ?? {};
        const error_signature = errorSignature(error_type, `${number} ${content}`);
        found += (await reflections.bySignature({ ...reader, error_signature })).length;
      }),
    ),
    ...named(
      'recall_by_similarity',
      await measure(questions, async (n) => {
        found += (await reflections.recallForFailure(failure(fresh[n % fresh.length], 'fp1:new'))).length;
      }),
    ),
    ...named(
      'similar_of_any_type',
      await measure(questions, (n) =>
        reflections.similar({
          ...reader,
          content: fresh[n % fresh.length]?.content ?? '',
        }),
      ),
    ),
    ...named(
      'lessons_for_a_start',
      await measure(Math.min(100, questions), () => startMemory.lessons({ ...reader, tools })),
    ),
  };
  if (found < 2 * questions) throw new Error(`only ${found} lessons were found in ${3 * questions} questions`);
  return figures;
}
