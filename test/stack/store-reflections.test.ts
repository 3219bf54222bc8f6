/** Needs Postgres. Shows that a lesson is kept once, counted always, recalled by index, and that people have a say. */
import { beforeAll, describe, expect, it } from 'vitest';
import type { NewReflection } from '../../src/store/reflection-persist.ts';
import { openTestStore } from './store-fixtures.ts';
import type { StoreUnderTest } from './store-fixtures.ts';

let test: StoreUnderTest;
beforeAll(async () => {
  test = await openTestStore();
});

const THRESHOLD = 0.85;

const reflection = (over: Partial<NewReflection> = {}): NewReflection => {
  const error_signature = over.error_signature ?? `sig-${over.content ?? 'default'}`.slice(0, 100);
  return {
    scope: 'agent',
    agent: 'clerk',
    error_type: 'tool_error',
    error_signature,
    content: 'default',
    rationale: 'Self-correction during: the invoices',
    tags: ['reflection', 'self-correction', 'tool_error', `sig:${error_signature}`],
    context: {
      error_signature,
      original_query: 'sum the invoices',
      iteration_count: 1,
      quality_improvement: 0.2,
      reflection_context: 'the invoices',
    },
    similarity_threshold: THRESHOLD,
    ...over,
  };
};

const TIMEOUT = 'Request to the ledger timed out after 3000 ms; asking for a page of 50 rows worked';

describe('persisting', () => {
  it('persisting stores a lesson with everything that the seed keeps', async () => {
    const lesson = reflection({ agent: 'keeper', content: '接続できません 😀: wait and ask again', tools: ['ledger'] });
    const { id, ...result } = await test.store.reflections.persist(lesson);
    expect(result).toEqual({ stored: true, deduplicated: false, similarity: 1, occurrence_count: 1 });
    expect(await test.store.reflections.get(id)).toMatchObject({
      category: 'reflection',
      content: lesson.content,
      rationale: lesson.rationale,
      tags: lesson.tags,
      tools: ['ledger'],
      context: lesson.context,
      retired: false,
      pinned: false,
    });
  });

  it('persisting counts an identical one instead of storing it', async () => {
    const lesson = reflection({ agent: 'identical', content: TIMEOUT });
    const first = await test.store.reflections.persist(lesson);
    const second = await test.store.reflections.persist(lesson);
    expect(second).toEqual({ id: first.id, stored: false, deduplicated: true, similarity: 1, occurrence_count: 2 });
  });

  it('persisting counts a near-identical one, and stores one that only resembles it', async () => {
    const of = (content: string) => test.store.reflections.persist(reflection({ agent: 'near', content }));
    const first = await of(TIMEOUT);
    const near = await of(`${TIMEOUT}!`);
    expect(near).toMatchObject({ id: first.id, stored: false, occurrence_count: 2 });
    const other = await of('Request to the mailer was refused; another host worked');
    expect(other).toMatchObject({ stored: true, occurrence_count: 1 });
  });

  it('persisting takes the best match, then the oldest', async () => {
    const of = (content: string, similarity_threshold: number) =>
      test.store.reflections.persist(reflection({ agent: 'best', content, similarity_threshold }));
    const older = await of('alpha beta gamma delta', 1);
    const twin = await of('alpha-beta gamma delta!', 1);
    // To trigrams the two are the same, and 1 asks for identical text only where signatures decide.
    expect(twin.id).toBe(older.id);
    const better = await of('alpha beta gamma delta epsilon', 1);
    expect(await of('alpha beta gamma delta epsilon!!', 0.5)).toMatchObject({ id: better.id, similarity: 1 });
    expect(await of('delta gamma beta alpha', 0.5)).toMatchObject({ id: older.id });
  });

  it('persisting keeps agents, types and scopes apart', async () => {
    const base = { content: 'Two totals of one invoice differ; the later one was right' };
    const ids = [
      await test.store.reflections.persist(reflection({ ...base, agent: 'apart-1' })),
      await test.store.reflections.persist(reflection({ ...base, agent: 'apart-2' })),
      await test.store.reflections.persist(reflection({ ...base, agent: 'apart-1', error_type: 'conflict' })),
      await test.store.reflections.persist(reflection({ ...base, agent: 'apart-1', scope: 'global' })),
    ].map((result) => result.id);
    expect(new Set(ids).size).toBe(4);
    // Within the global scope it does not matter who learnt it.
    const again = reflection({ ...base, agent: 'apart-2', scope: 'global' });
    expect(await test.store.reflections.persist(again)).toMatchObject({ id: ids[3], stored: false });
  });

  it('persisting the same lesson 100 times at once stores one row and counts 100', async () => {
    const lesson = reflection({ agent: 'crowd', content: TIMEOUT });
    const results = await Promise.all(Array.from({ length: 100 }, () => test.store.reflections.persist(lesson)));
    expect(results.filter((result) => result.stored)).toHaveLength(1);
    expect(Math.max(...results.map((result) => result.occurrence_count))).toBe(100);
    expect(new Set(results.map((result) => result.id)).size).toBe(1);
  });

  it('persisting near-identical lessons with different signatures at once stores one row too', async () => {
    const results = await Promise.all(
      Array.from({ length: 20 }, (_, n) =>
        test.store.reflections.persist(reflection({ agent: 'near-crowd', content: TIMEOUT, error_signature: `s${n}` })),
      ),
    );
    expect(results.filter((result) => result.stored)).toHaveLength(1);
  });

  it('persisting the same occurrence again counts nothing and answers the same', async () => {
    const lesson = reflection({ agent: 'repeat', content: TIMEOUT, occurrence_id: 'run-9:s1:a2' });
    const answers = [await test.store.reflections.persist(lesson), await test.store.reflections.persist(lesson)];
    expect(answers[1]).toEqual(answers[0]);
  });

  it('persisting includes a similarity of exactly the threshold', async () => {
    // 7 of 10 trigrams: pg_trgm alone says that 0.7 is not >= 0.7.
    const [pair] = await test.query<{ alike: number }>(`select similarity('abcdefgh', 'abcdefghi') as alike`);
    const of = (content: string) =>
      test.store.reflections.persist(
        reflection({ agent: 'exactly', content, similarity_threshold: Number(pair?.alike.toFixed(6)) }),
      );
    const first = await of('abcdefgh');
    expect(await of('abcdefghi')).toMatchObject({ id: first.id, stored: false });
  });

  it('persisting refuses a lesson for an agent without a name, and says where', async () => {
    await expect(test.store.reflections.persist(reflection({ agent: null }))).rejects.toThrow(/^agent: /);
    await expect(test.store.reflections.persist(reflection({ content: '' }))).rejects.toThrow(/^content: /);
  });
});

describe('recall', () => {
  const reader = { scope: 'agent', agent: 'recall' } as const;
  const everybody = { scope: 'global', agent: 'recall' } as const;
  let ownId: number;
  let globalId: number;
  beforeAll(async () => {
    const own = reflection({ agent: 'recall', content: TIMEOUT, error_signature: 'own' });
    const shared = reflection({
      agent: 'teacher',
      scope: 'global',
      content: `${TIMEOUT} too`,
      error_signature: 'shared',
      similarity_threshold: 1,
    });
    ownId = (await test.store.reflections.persist(own)).id;
    globalId = (await test.store.reflections.persist(shared)).id;
    await test.store.reflections.persist(own);
  });

  it('recall by signature finds the own lesson, and those of everybody only under the global scope', async () => {
    const { bySignature } = test.store.reflections;
    const own = await bySignature({ ...reader, error_signature: 'own' });
    expect(own).toMatchObject([{ id: ownId, score: 1, reason: 'same_signature', occurrence_count: 2 }]);
    expect(await bySignature({ ...reader, error_signature: 'shared' })).toEqual([]);
    expect(await bySignature({ ...everybody, error_signature: 'shared' })).toMatchObject([{ id: globalId }]);
    expect(await bySignature({ scope: 'agent', agent: 'stranger', error_signature: 'own' })).toEqual([]);
  });

  it('recall by similarity gives the most alike first, with their scores', async () => {
    const found = await test.store.reflections.similar({ ...everybody, content: TIMEOUT });
    expect(found.map((item) => [item.id, item.reason])).toEqual([
      [ownId, 'same_message'],
      [globalId, 'similar'],
    ]);
    expect(found[0]?.score).toBe(1);
    const typed = { ...reader, content: TIMEOUT, error_type: 'conflict' };
    expect(await test.store.reflections.similar(typed)).toEqual([]);
  });

  it('recall says whether an error was seen before, by signature or by content', async () => {
    const { seen } = test.store.reflections;
    const unknown = { ...reader, error_signature: 'unknown' };
    expect(await seen({ ...unknown, error_signature: 'own' })).toMatchObject({ id: ownId, occurrence_count: 2 });
    expect(await seen(unknown)).toBeNull();
    expect(await seen({ ...unknown, content: `${TIMEOUT}.` })).toMatchObject({ id: ownId, occurrence_count: 2 });
    expect(await seen({ ...unknown, content: 'something else' })).toBeNull();
  });

  it('recall gives a run its lessons: pinned first, then success after use, then recent, and only for its tools', async () => {
    const agent = 'starter';
    const learn = async (content: string, tools: string[]) =>
      (await test.store.reflections.persist(reflection({ agent, content, tools, similarity_threshold: 1 }))).id;
    const [pinned, proven, failed, mentioning, foreign, within, recent] = [
      await learn('one: pinned by a person', ['ledger']),
      await learn('two: helped twice already', ['ledger', 'mail']),
      await learn('three: used and did not help', ['ledger']),
      await learn('four: learnt with no tool, and tells of ledger.', []),
      await learn('five: concerns another tool', ['printer']),
      await learn('six: a ledgerdemain and an email are no tools', []),
      await learn('seven: the newest', ['mail']),
    ];
    await test.store.reflections.revise({ reflection_id: pinned, action: 'pin', by: 'ada' });
    const use = (use_id: string, reflection_id: number, succeeded: boolean) =>
      ({ use_id, reflection_id, succeeded, run_id: 'r' }) as const;
    const uses = [use('u1', proven, true), use('u2', proven, true), use('u3', failed, false)];
    expect(await test.store.reflections.recordUses(uses)).toEqual({ written: 3 });
    expect(await test.store.reflections.recordUses(uses)).toEqual({ written: 0 });
    const query = { scope: 'agent', agent, tools: ['ledger', 'mail'] } as const;
    const ids = (await test.store.startMemory.lessons(query)).map((item) => item.id);
    expect(ids).toEqual([pinned, proven, recent, mentioning, failed]);
    expect(ids).not.toContain(foreign);
    expect(ids).not.toContain(within);
    expect(await test.store.startMemory.lessons({ ...query, limit: 2 })).toHaveLength(2);
    expect(await test.store.startMemory.lessons({ ...query, tools: [] })).toEqual([]);
  });
});

describe('what people decide', () => {
  it('a person retires, pins, unpins and edits, and every decision is kept', async () => {
    const { reflections } = test.store;
    const agent = 'decided';
    const { id } = await reflections.persist(reflection({ agent, content: TIMEOUT, error_signature: 'decided' }));
    const recalled = () => reflections.bySignature({ scope: 'agent', agent, error_signature: 'decided' });
    await reflections.revise({ reflection_id: id, action: 'pin', by: 'ada' });
    expect(await recalled()).toMatchObject([{ pinned: true }]);
    await reflections.revise({ reflection_id: id, action: 'unpin', by: 'ada' });
    await reflections.revise({
      reflection_id: id,
      action: 'edit',
      content: 'Ask for 20 rows',
      by: 'bob',
      reason: 'safer',
    });
    expect(await recalled()).toMatchObject([{ pinned: false, content: 'Ask for 20 rows' }]);
    await reflections.revise({ reflection_id: id, action: 'retire', by: 'ada' });
    expect(await recalled()).toEqual([]);
    const actions = (await reflections.revisionsOf(id)).map((revision) => [revision.action, revision.by]);
    expect(actions).toEqual([
      ['pin', 'ada'],
      ['unpin', 'ada'],
      ['edit', 'bob'],
      ['retire', 'ada'],
    ]);
    // A retired lesson that is learnt again is counted, and stays retired.
    const again = await reflections.persist(reflection({ agent, content: TIMEOUT, error_signature: 'decided' }));
    expect(again).toMatchObject({ id, stored: false });
    expect(await recalled()).toEqual([]);
  });

  it('a decision is refused for a lesson that is not there, and for an edit without a content', async () => {
    const { revise } = test.store.reflections;
    await expect(revise({ reflection_id: 999_999, action: 'pin', by: 'ada' })).rejects.toThrow('reflection_id: there');
    await expect(revise({ reflection_id: 1, action: 'edit', by: 'ada' })).rejects.toThrow(/^content: /);
  });
});

describe('among 5,000 lessons', () => {
  const plan = async (statement: string): Promise<string> =>
    (await test.query<Record<string, string>>(`explain ${statement}`)).map((row) => row['QUERY PLAN']).join('\n');

  beforeAll(async () => {
    await test.query(`
      insert into reflections (scope, agent, error_type, error_signature, content, rationale, tags, context)
      select 'agent', 'many-' || n % 10, 'tool_error', 'many-' || n,
        'Tool ' || md5(n::text) || ' failed; ' || md5((n * 7)::text) || ' worked', '', '{}', '{}'
      from generate_series(1, 5000) as n`);
    await test.query('analyze reflections');
  });

  beforeAll(async () => {
    await test.query(`
      insert into reflection_texts (reflection_id, scope_key, error_type, content)
      select id, scope_key, error_type, content from reflections where error_signature like 'many-%'`);
  });

  it('among 5,000 lessons a fingerprint is found by its index', async () => {
    const text = `select * from reflection_current as r where r.scope_key = 'agent:many-1'
      and not r.retired and r.fingerprint = 'fp1:x' order by r.pinned desc, r.id desc limit 5`;
    expect(await plan(text)).toContain('reflections_fingerprint');
  });

  it('among 5,000 lessons a signature is found by its index', async () => {
    const text = `select * from reflection_current as r where r.scope_key = 'agent:many-1'
      and not r.retired and r.error_signature = 'many-1' order by r.id limit 5`;
    expect(await plan(text)).toContain('reflections_signature');
  });

  it.each([
    ['similar lessons', `t.content % 'Tool x failed'`],
    ['lessons that begin like a failure', `t.content %> 'Tool x failed' and t.error_type = 'tool_error'`],
  ])('among 5,000 lessons %s are found by the index of their own part', async (_what, condition) => {
    await test.query('set enable_seqscan = off');
    const text = `select r.id from reflection_texts as t join reflection_current as r on r.id = t.reflection_id
      where t.scope_key = 'agent:many-1' and not r.retired and ${condition} limit 5`;
    const found = await plan(text);
    await test.query('set enable_seqscan = on');
    expect(found).toContain('Bitmap Index Scan on reflection_texts');
    expect(new Set(found.match(/on reflection_texts_\d+/g)).size).toBe(1);
  });
});
