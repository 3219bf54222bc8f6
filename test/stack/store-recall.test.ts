/** Needs Postgres. Shows what a run gets to know about a failure, and that the store ranks as the pure rule does. */
import * as fc from 'fast-check';
import { beforeAll, describe, expect, it } from 'vitest';
import { errorSignature } from '../../src/core/lessons/signature.ts';
import { rankLessons } from '../../src/core/lessons/rank-lessons.ts';
import type { Lesson } from '../../src/core/lessons/rank-lessons.ts';
import type { NewReflection } from '../../src/store/reflection-persist.ts';
import { openTestStore } from './store-fixtures.ts';
import type { StoreUnderTest } from './store-fixtures.ts';

let test: StoreUnderTest;
beforeAll(async () => {
  test = await openTestStore();
});

const THRESHOLD = 0.85;
const FAILURE = 'ledger failed with ETIMEDOUT: the request for invoices timed out after 3000 ms';

const learn = async (agent: string, content: string, over: Partial<NewReflection> = {}): Promise<number> => {
  const error_type = over.error_type ?? 'tool_error';
  const error_signature = errorSignature(error_type, content);
  const { id } = await test.store.reflections.persist({
    scope: 'agent',
    agent,
    error_type,
    error_signature,
    content,
    rationale: '',
    tags: [],
    tools: ['ledger'],
    context: {
      error_signature,
      original_query: '',
      iteration_count: 1,
      quality_improvement: 1,
      reflection_context: '',
    },
    similarity_threshold: 1,
    ...over,
  });
  return id;
};

const ask = (agent: string, over: Partial<Parameters<typeof test.store.reflections.recallForFailure>[0]> = {}) =>
  test.store.reflections.recallForFailure({
    scope: 'agent',
    agent,
    error_type: 'tool_error',
    fingerprint: 'fp1:unknown',
    description: FAILURE,
    ...over,
  });

const used = (reflection_id: number, succeeded: boolean, times: number) =>
  test.store.reflections.recordUses(
    Array.from({ length: times }, (_, n) => ({
      use_id: `use-${reflection_id}-${succeeded}-${n}`,
      reflection_id,
      run_id: 'r',
      succeeded,
    })),
  );

describe('a failure that was met before', () => {
  it('a failure that was met before is known by its fingerprint, whatever its words: pinned first, then what helped, then the recent', async () => {
    const agent = 'exact';
    const fingerprint = 'fp1:tool_error:ledger:ETIMEDOUT:1';
    const of = (content: string) => learn(agent, content, { fingerprint });
    const [helped, once, untried, newest, harmful, pinned, retired] = [
      await of('nine of ten times asking for fewer rows worked'),
      await of('one time waiting worked'),
      await of('never tried: another region'),
      await of('never tried either: another host'),
      await of('sending it twice did not work'),
      await of('a person says: ask the archive'),
      await of('a person took this one back'),
    ];
    await Promise.all([used(helped, true, 9), used(helped, false, 1), used(once, true, 1), used(harmful, false, 2)]);
    await test.store.reflections.revise({ reflection_id: pinned, action: 'pin', by: 'ada' });
    await test.store.reflections.revise({ reflection_id: retired, action: 'retire', by: 'ada' });
    const found = await ask(agent, { fingerprint, description: 'nothing like it', limit: 10 });
    expect(found.map((lesson) => lesson.id)).toEqual([pinned, helped, once, newest, untried, harmful]);
    expect(new Set(found.map((lesson) => lesson.reason))).toEqual(new Set(['same_fingerprint']));
    expect(await ask(agent, { fingerprint })).toHaveLength(5);
  });

  it('a failure that was met before is known by similarity when its fingerprint is new: the lesson begins with the failure and goes on', async () => {
    const agent = 'alike';
    const id = await learn(agent, `${FAILURE}; asking for a page of 50 rows and then for the next one worked`);
    await learn(agent, 'mailer failed with EAUTH: the password was refused; another account worked');
    const found = await ask(agent);
    expect(found).toMatchObject([{ id, reason: 'similar' }]);
    // A search by the verbatim beginning of a lesson finds it too.
    const whole = { scope: 'agent', agent, content: FAILURE } as const;
    expect(await test.store.reflections.similar(whole)).toMatchObject([{ id, reason: 'similar' }]);
  });

  it('a failure that was met before is not known by a lesson of another type, of another agent, of too little likeness, or one that was retired', async () => {
    const agent = 'strict';
    const content = `${FAILURE}; waiting worked`;
    await learn(agent, content, { error_type: 'contract_violation' });
    await learn('somebody else', content);
    await learn(agent, 'ledger failed with a smile; nothing else is known');
    expect(await ask(agent)).toEqual([]);
    const id = await learn(agent, content);
    expect(await ask(agent)).toMatchObject([{ id }]);
    await test.store.reflections.revise({ reflection_id: id, action: 'retire', by: 'ada' });
    expect(await ask(agent)).toEqual([]);
  });

  it('a failure that was met before is known by a lesson for everybody only where the policy says global', async () => {
    const agent = 'shared';
    const description = 'crawler failed with HTTP_503: the host asked for patience';
    const id = await learn(agent, `${description}; waiting worked`, { scope: 'global' });
    expect(await ask('a stranger', { description })).toEqual([]);
    expect(await ask('a stranger', { description, scope: 'global' })).toMatchObject([{ id }]);
  });

  it('a failure that was met before keeps the fingerprint of the first lesson when a near-identical one is counted', async () => {
    const agent = 'first';
    const first = await learn(agent, `${FAILURE}; waiting worked`, { fingerprint: 'fp1:a' });
    const again = { fingerprint: 'fp1:b', similarity_threshold: THRESHOLD };
    expect(await learn(agent, `${FAILURE}; waiting worked!`, again)).toBe(first);
    expect(await test.store.reflections.get(first)).toMatchObject({ fingerprint: 'fp1:a', occurrence_count: 2 });
    expect(await ask(agent, { fingerprint: 'fp1:b' })).toMatchObject([{ id: first, reason: 'same_fingerprint' }]);
  });
});

describe('the lessons of a start', () => {
  it(
    'the lessons of a start are ranked by the store exactly as the pure rule ranks them',
    { timeout: 60_000 },
    async () => {
      let worlds = 0;
      const lesson = fc.record({
        tools: fc.constantFrom<string[]>([], ['ledger'], ['printer'], ['mail', 'printer']),
        text: fc.constantFrom('tells of ledger', 'tells of ledgers', 'tells of mail, too', 'tells of nothing'),
        pin: fc.constantFrom('none', 'pin', 'unpin'),
        edited: fc.boolean(),
        retired: fc.boolean(),
        again: fc.boolean(),
        successes: fc.integer({ min: 0, max: 3 }),
        failures: fc.integer({ min: 0, max: 3 }),
      });
      await fc.assert(
        fc.asyncProperty(fc.array(lesson, { maxLength: 10 }), async (lessons) => {
          worlds += 1;
          const agent = `world-${worlds}`;
          const known: (Lesson & { number: number })[] = [];
          for (const [index, one] of lessons.entries()) {
            const id = await learn(agent, `${index}: ${one.text}`, { tools: one.tools });
            const say = (action: 'pin' | 'unpin' | 'retire') =>
              test.store.reflections.revise({ reflection_id: id, action, by: 'ada' });
            if (one.pin !== 'none') await say('pin');
            if (one.pin === 'unpin') await say('unpin');
            const content = `${index}: edited, tells of mail`;
            if (one.edited)
              await test.store.reflections.revise({ reflection_id: id, action: 'edit', content, by: 'ada' });
            if (one.retired) await say('retire');
            await Promise.all([used(id, true, one.successes), used(id, false, one.failures)]);
            if (one.retired) continue;
            known.push({
              id: String(id).padStart(16, '0'),
              number: id,
              content: one.edited ? content : `${index}: ${one.text}`,
              tools: one.tools,
              pinned: one.pin === 'pin',
              uses: one.successes + one.failures,
              successes: one.successes,
              last_seen_at: '',
            });
          }
          for (const [index, one] of lessons.entries()) {
            if (one.again) await learn(agent, `${index}: ${one.text}`, { tools: one.tools });
          }
          for (const one of known) {
            one.last_seen_at = (await test.store.reflections.get(one.number))?.last_seen_at ?? '';
          }
          const tools = ['ledger', 'mail'];
          const found = await test.store.startMemory.lessons({ scope: 'agent', agent, tools });
          expect(found.map((item) => item.id)).toEqual(rankLessons(known, tools).map((item) => item.number));
        }),
        { numRuns: 15 },
      );
    },
  );

  it('the lessons of a start are found behind any number of texts that only seem to name a tool', async () => {
    const agent = 'crowded';
    const id = await learn(agent, 'the ledger wants a date; giving one worked', { tools: [] });
    await test.query(`
      insert into reflections (scope, agent, error_type, error_signature, content, rationale, tags, context)
      select 'agent', 'crowded', 'tool_error', 'crowd-' || n, n || ' ledgers and subledger_' || n, '', '{}', '{}'
      from generate_series(1, 450) as n`);
    const found = await test.store.startMemory.lessons({ scope: 'agent', agent, tools: ['ledger'] });
    expect(found.map((item) => item.id)).toEqual([id]);
  });
});
