/**
 * Needs Postgres. Shows that the store finds lessons and failures by their error, as the pure rule does, and never across a tenant.
 * `npm run recall` is the same measurement with 10,000 lessons, and with times.
 */
import { beforeAll, describe, expect, it } from 'vitest';
import { MEASURED_FORMS } from '../../bench/recall/known-errors.ts';
import { makeError, REWORDINGS } from '../../bench/recall/make-errors.ts';
import { measureRecall } from '../../bench/recall/measure.ts';
import { errorSignature } from '../../src/core/lessons/signature.ts';
import { createScore, isSameError, shareWords, weighWords } from '../../src/core/recall/match-texts.ts';
import { normalHash } from '../../src/core/recall/normal-form.ts';
import { readSearchedText } from '../../src/core/recall/search-words.ts';
import type { NewReflection } from '../../src/store/reflection-persist.ts';
import { seededRandom } from '../../src/testing/simulator/seeded-random.ts';
import { failureRecord, openTestStore, timeAt } from './store-fixtures.ts';
import type { StoreUnderTest } from './store-fixtures.ts';

let test: StoreUnderTest;
beforeAll(async () => {
  test = await openTestStore();
});

const learn = (agent: string, content: string, over: Partial<NewReflection> = {}) => {
  const error_signature = errorSignature('tool_error', content);
  return test.store.reflections.persist({
    scope: 'agent',
    agent,
    error_type: 'tool_error',
    error_signature,
    content,
    rationale: '',
    tags: [],
    tools: ['stock'],
    context: {
      error_signature,
      original_query: '',
      iteration_count: 1,
      quality_improvement: 1,
      reflection_context: '',
    },
    similarity_threshold: 0.85,
    ...over,
  });
};

describe('reworded errors', () => {
  it('find their lesson among the first five, and unrelated errors find none', { timeout: 120_000 }, async () => {
    const figures = await measureRecall(test.store, {
      databaseUrl: test.databaseUrl,
      lessons: 1_500,
      errorsPerForm: 1,
      forms: MEASURED_FORMS.filter((_form, index) => index % 3 === 0),
      seed: 11,
    });
    const rates = Object.values(figures.byTool);
    const asked = rates.reduce((sum, rate) => sum + rate.asked, 0);
    const found = rates.reduce((sum, rate) => sum + rate.found, 0);
    expect(asked).toBeGreaterThan(200);
    expect(found / asked).toBeGreaterThanOrEqual(0.95);
    expect(figures.unrelatedByTool.found / figures.unrelatedByTool.asked).toBeLessThanOrEqual(0.01);
    expect(figures.unrelatedByText.found / figures.unrelatedByText.asked).toBeLessThanOrEqual(0.01);
  });

  it('find in the store exactly what the pure rule finds, in the same order', { timeout: 120_000 }, async () => {
    const agent = 'as-the-rule';
    const random = seededRandom(3);
    const errors = MEASURED_FORMS.slice(0, 40).flatMap((form) => [makeError(random, form), makeError(random, form)]);
    const texts = [];
    for (const [n, { text }] of errors.entries()) {
      const { id } = await learn(agent, `lesson number ${n}`, { error_text: text, similarity_threshold: 1 });
      texts.push({ id, hash: normalHash(text), ...readSearchedText(text) });
    }
    const others = (
      await test.query<{ words: string[] }>(
        `select words || passing as words from recall_texts where scope_key = $1 and part <> 'error'`,
        [`agent:${agent}`],
      )
    ).map(({ words }) => words);
    const all = [...texts.map(({ words, passing }) => [...words, ...passing]), ...others];
    for (const error of errors.slice(0, 30)) {
      for (const reword of Object.values(REWORDINGS)) {
        const asked = reword(random, error);
        if (asked === null) continue;
        const searched = readSearchedText(asked);
        const words = [...searched.words, ...searched.passing];
        const counts = new Map(words.map((word) => [word, all.filter((text) => text.includes(word)).length]));
        const weighed = weighWords(searched, counts);
        const score = createScore(weighed);
        const exact = texts.filter(({ hash }) => hash !== null && hash === normalHash(asked));
        const expected = texts
          .filter((text) => isSameError(shareWords(weighed, text), text))
          .map((text) => ({ id: text.id, score: score(text, shareWords(weighed, text)) }))
          .sort((one, other) => other.score - one.score);
        const found = await test.store.reflections.recallForFailure({
          scope: 'agent',
          agent,
          error_type: 'tool_error',
          fingerprint: 'fp1:none',
          error_text: asked,
          description: '',
          limit: 50,
        });
        // The same message excludes similar ones.
        const rows = exact.length > 0 ? exact.map(({ id }) => ({ id, score: 1 })) : expected;
        expect(new Set(found.map(({ id }) => id))).toEqual(new Set(rows.map(({ id }) => id)));
        expect(found.map(({ score: is }) => is.toFixed(6))).toEqual(rows.map((one) => one.score.toFixed(6)));
      }
    }
  });
});

describe('a lesson that is learnt again', () => {
  it('is counted, and is found by each error it was learnt from', async () => {
    const agent = 'again';
    const content = 'If stock fails with HTTP_422, then what worked was limit 100 instead of 500.';
    const first = await learn(agent, content, { error_text: 'page size 500 is beyond the maximum of shelf listing' });
    const again = await learn(agent, `${content} `, {
      error_text: 'warehouse gateway refuses oversized catalogue window',
    });
    expect(again).toMatchObject({ id: first.id, occurrence_count: 2, deduplicated: true });
    for (const text of [
      'shelf listing: page size 7 beyond maximum',
      'oversized catalogue window refused by warehouse gateway',
    ])
      expect(await test.store.reflections.similar({ scope: 'agent', agent, content: text })).toMatchObject([
        { id: first.id },
      ]);
    expect(await test.store.reflections.errorsOf(first.id)).toHaveLength(2);
  });

  it('is found by its edited text and no longer by the text before', async () => {
    const { id } = await learn('edited', 'ask the mirror for the quarterly ledger');
    await test.store.reflections.revise({
      reflection_id: id,
      action: 'edit',
      content: 'wait until the nightly batch is over',
      by: 'ada',
    });
    const find = (content: string) => test.store.reflections.similar({ scope: 'agent', agent: 'edited', content });
    expect(await find('nightly batch is over')).toMatchObject([{ id }]);
    expect(await find('mirror for the quarterly ledger')).toEqual([]);
  });
});

describe('people search', () => {
  it('lessons by the beginning of the lesson, by a part of the error, by tool and by code', async () => {
    const { id } = await learn('typed', 'If parcel.label fails with ZIP_7, then what worked was carrier pelican.', {
      tenant: 'typing',
      tools: ['parcel.label'],
      error_text: 'postal code of consignment QX44 outside delivery area',
      error_code: 'ZIP_7',
    });
    const ids = async (query: Parameters<typeof test.store.reflections.search>[0]) =>
      (await test.store.reflections.search({ ...query, tenant: 'typing' })).map((lesson) => lesson.id);
    for (const q of [
      'If parcel.label fails with ZI',
      'consignm outsid deliv',
      'parcel.label',
      'zip_7',
      'pelican',
      'QX44',
    ])
      expect([q, await ids({ q })]).toEqual([q, [id]]);
    expect(await ids({ tool: 'Parcel.Label' })).toEqual([id]);
    expect(await ids({ code: 'zip_7' })).toEqual([id]);
    expect(await ids({ q: 'consignment', tool: 'another.tool' })).toEqual([]);
    expect(await ids({ q: 'consignment of nobody knows whom anywhere' })).toEqual([]);
  });

  it('failures by message, tool, code, agent and fingerprint', async () => {
    const fingerprint = 'fp1:tool_error:geo.tile:ZOOM:77';
    await test.store.records.append(
      [
        failureRecord({
          failure_id: 'searched-1',
          run_id: 'searched',
          fingerprint,
          attempted_action: { action_id: 'a', tool_name: 'geo.tile', tool_call_id: null, input_hash: null },
          observed_outcome: {
            kind: 'exception',
            error_code: 'ZOOM',
            message_preview: 'tile set alps lacks zoom level 21',
            duration_ms: 1,
          },
        }),
      ],
      { agent: 'cartographer' },
    );
    const since = timeAt(-1_000);
    for (const q of ['tile set alps', 'alp lack', 'geo.tile', 'zoom', 'Cartographer', fingerprint.slice(0, 20)]) {
      const found = await test.store.knownFailures.list({ since, q });
      expect([q, found.map((known) => known.fingerprint)]).toEqual([q, [fingerprint]]);
    }
    expect(await test.store.knownFailures.list({ since, q: 'submarine cable' })).toEqual([]);
    expect(await test.store.knownFailures.list({ since, tool: 'geo.tile', code: 'zoom' })).toHaveLength(1);
  });
});

describe('a tenant', () => {
  const MESSAGE = 'chronometer of vessel 12 drifts beyond tolerance';
  const append = (tenant: string | null, run_id: string) =>
    test.store.records.append(
      [
        failureRecord({
          failure_id: `${run_id}:f`,
          run_id,
          fingerprint: 'fp1:vessel',
          observed_outcome: { kind: 'exception', error_code: 'DRIFT', message_preview: MESSAGE, duration_ms: 1 },
        }),
      ],
      { tenant },
    );

  it('sees the failures of its own runs only, in every way of searching', async () => {
    await append('acme', 'acme-1');
    const seen = (tenant: string | null) =>
      test.store.knownFailures.seen({ text: MESSAGE, fingerprint: 'fp1:vessel', tenant });
    expect([await seen('bolt'), await seen(null)]).toEqual([null, null]);
    expect(await seen('acme')).toMatchObject({ occurrence_count: 1, run_count: 1 });
    await append('bolt', 'bolt-1');
    await append('bolt', 'bolt-2');
    expect(await seen('bolt')).toMatchObject({ occurrence_count: 2, run_count: 2, fingerprint: 'fp1:vessel' });
    expect(await seen('acme')).toMatchObject({ occurrence_count: 1 });
    const since = timeAt(-1_000);
    const list = async (tenant: string) =>
      (await test.store.knownFailures.list({ since, tenant, q: 'chronometer vessel' })).map(
        (known) => known.occurrence_count,
      );
    expect([await list('acme'), await list('bolt'), await list('cargo')]).toEqual([[1], [2], []]);
    const { items } = await test.store.records.list({ fingerprint: 'fp1:vessel', tenant: 'acme' });
    expect(items.map(({ run_id }) => run_id)).toEqual(['acme-1']);
  });

  it('whose name is the beginning of another name does not see the other', async () => {
    await learn('clerk', 'ask the harbour master for a pilot', { tenant: 'acme' });
    const find = (tenant: string) => test.store.reflections.search({ q: 'harbour master', tenant });
    expect(await find('acme')).toHaveLength(1);
    expect([await find('acm'), await find('acme2')]).toEqual([[], []]);
  });
});
