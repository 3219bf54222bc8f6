/** Measures whether reworded errors find their lesson among many, and unrelated errors none. */
import { sql } from 'kysely';
import { errorSignature } from '../../src/core/lessons/signature.ts';
import { describeFailure } from '../../src/core/lessons/lesson-text.ts';
import { openDatabase } from '../../src/store/connection.ts';
import { searchableNames, searchableText, writeRecallTexts } from '../../src/store/recall-texts.ts';
import type { Store } from '../../src/store/store.ts';
import { seededRandom } from '../../src/testing/simulator/seeded-random.ts';
import { type ErrorForm, MEASURED_FORMS, TUNING_FORMS } from './known-errors.ts';
import { type KnownError, makeDistractor, makeError, type Random, REWORDINGS } from './make-errors.ts';
import { UNRELATED_FORMS } from './unrelated-errors.ts';

export const AGENT = 'measured';
/** Lessons with the same form and other names. They are what an error is most easily mistaken for. */
const NAMED_PER_FORM = 6;

export interface RecallSize {
  databaseUrl: string;
  lessons: number;
  /** Errors of each form that are reworded. */
  errorsPerForm: number;
  /** Which forms are asked about: those of the report, or those for choosing limits. */
  forms?: readonly ErrorForm[];
  seed?: number;
}

export interface Rate {
  asked: number;
  found: number;
}

export interface RecallFigures {
  /** By the way of rewording: asked as a failing run asks, with its tool. */
  byTool: Record<string, Rate>;
  /** Asked with the text alone, as `similar_to` and `seen_before` ask. */
  byText: Record<string, Rate>;
  unrelatedByTool: Rate;
  unrelatedByText: Rate;
  /** Milliseconds of each question, sorted. */
  timesMs: number[];
}

export async function measureRecall(store: Store, size: RecallSize): Promise<RecallFigures> {
  const random = seededRandom(size.seed ?? 5);
  const forms = size.forms ?? MEASURED_FORMS;
  const known = makeKnown(random, size.lessons);
  const ids = await fill(size.databaseUrl, known);
  const timesMs: number[] = [];
  const timed = async <T>(work: Promise<T>): Promise<T> => {
    const startedAt = performance.now();
    const answer = await work;
    timesMs.push(performance.now() - startedAt);
    return answer;
  };
  const reader = { scope: 'agent', agent: AGENT } as const;
  const askByTool = ([tool, code]: ErrorForm, text: string) =>
    timed(
      store.reflections.recallForFailure({
        ...reader,
        error_type: 'tool_error',
        fingerprint: 'fp1:reworded',
        tool_name: tool,
        error_text: text,
        description: describeFailure(tool, code),
      }),
    );
  const askByText = (content: string) => timed(store.reflections.similar({ ...reader, content }));

  const byTool: Record<string, Rate> = {};
  const byText: Record<string, Rate> = {};
  const perForm = new Map<ErrorForm, number>();
  const chosen = known.flatMap((error, index) => {
    const count = perForm.get(error.form) ?? 0;
    if (!forms.includes(error.form) || count >= size.errorsPerForm) return [];
    perForm.set(error.form, count + 1);
    return [{ error, id: ids[index] }];
  });
  for (const [kind, reword] of Object.entries(REWORDINGS)) {
    const rates = [(byTool[kind] = { asked: 0, found: 0 }), (byText[kind] = { asked: 0, found: 0 })] as const;
    for (const { error, id } of chosen) {
      const text = reword(random, error);
      if (text === null) continue;
      const answers = [await askByTool(error.form, text), await askByText(text)] as const;
      for (const [index, rate] of rates.entries()) {
        rate.asked += 1;
        if (answers[index]?.some((lesson) => lesson.id === id) === true) rate.found += 1;
      }
    }
  }
  const unrelatedByTool = { asked: 0, found: 0 };
  const unrelatedByText = { asked: 0, found: 0 };
  for (let n = 0; n < size.errorsPerForm + 1; n += 1) {
    for (const form of UNRELATED_FORMS) {
      const { text } = makeError(random, form);
      unrelatedByTool.asked += 1;
      unrelatedByText.asked += 1;
      if ((await askByTool(form, text)).length > 0) unrelatedByTool.found += 1;
      if ((await askByText(text)).length > 0) unrelatedByText.found += 1;
    }
  }
  timesMs.sort((one, other) => one - other);
  return { byTool, byText, unrelatedByTool, unrelatedByText, timesMs };
}

function makeKnown(random: Random, count: number): KnownError[] {
  const known: KnownError[] = [];
  for (let n = 0; n < NAMED_PER_FORM; n += 1)
    for (const form of [...MEASURED_FORMS, ...TUNING_FORMS]) known.push(makeError(random, form));
  while (known.length < count) known.push(makeDistractor(random));
  return known;
}

/** Inserts the lessons in bulk; the texts are written as a run's lessons are. Returns the ids in order. */
async function fill(databaseUrl: string, known: readonly KnownError[]): Promise<number[]> {
  const db = openDatabase({ databaseUrl, maxConnections: 1, statementTimeoutMs: 0 });
  try {
    const rows = known.map(({ form: [tool, code] }, n) => {
      const content = `${describeFailure(tool, code)}, then what worked was option ${n}.`;
      return { n, tool, content, signature: errorSignature('tool_error', content) };
    });
    const { rows: written } = await sql<{ id: number; scope_key: string }>`
      insert into reflections (scope, agent, error_type, error_signature, content, rationale, tags, tools, context)
      select 'agent', ${AGENT}, 'tool_error', row->>'signature', row->>'content', '', '{}', array[row->>'tool'], '{}'
      from jsonb_array_elements(${JSON.stringify(rows)}::jsonb) as row order by (row->>'n')::int
      returning id, scope_key`.execute(db);
    const texts = written.flatMap(({ id, scope_key }, n) => {
      const { form: [tool, code] = ['', ''], text = '' } = known[n] ?? {};
      const of = { scope_key, reflection_id: id, tool_name: tool, error_code: code };
      return [
        searchableText({ ...of, part: 'error', fingerprint: `fp1:known:${n}` }, text),
        searchableText({ ...of, part: 'content' }, rows[n]?.content ?? ''),
        searchableNames(of, tool, code),
      ];
    });
    for (let at = 0; at < texts.length; at += 3_000) await writeRecallTexts(db, texts.slice(at, at + 3_000));
    await sql`vacuum analyze`.execute(db);
    return written.map(({ id }) => id);
  } finally {
    await db.destroy();
  }
}
