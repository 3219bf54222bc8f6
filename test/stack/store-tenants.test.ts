/** Needs Postgres. Shows that no search for lessons crosses a tenant, and when runs agree on a value. */
import { beforeAll, describe, expect, it } from 'vitest';
import { errorSignature } from '../../src/core/lessons/signature.ts';
import { DEFAULT_POLICY } from '../../src/protocol/policy.ts';
import type { PreparedRun } from '../../src/protocol/run.ts';
import { openTestStore } from './store-fixtures.ts';
import type { StoreUnderTest } from './store-fixtures.ts';

let test: StoreUnderTest;
beforeAll(async () => {
  test = await openTestStore();
});

const learn = (tenant: string | null, scope: 'agent' | 'global', content: string) => {
  const error_signature = errorSignature('tool_error', content);
  const context = {
    error_signature,
    original_query: '',
    iteration_count: 1,
    quality_improvement: 1,
    reflection_context: '',
  };
  return test.store.reflections.persist({
    scope,
    agent: 'clerk',
    tenant,
    error_type: 'tool_error',
    error_signature,
    fingerprint: 'fp1:tool_error:stock:HTTP_422',
    content,
    rationale: '',
    tags: [],
    tools: ['stock'],
    context,
    similarity_threshold: 0.85,
  });
};

const TENANTS = ['acme', 'bolt', null] as const;
const toldBy = (tenant: string | null) => tenant ?? 'nobody';

describe('the memory of a tenant', () => {
  it(
    'the memory of a tenant is not seen by 1,000 runs of another tenant, in any way of recalling',
    { timeout: 60_000 },
    async () => {
      const text = (tenant: string | null, more: string) =>
        `If stock fails with HTTP_422, then what worked was ${more} as ${toldBy(tenant)} learnt.`;
      for (const tenant of TENANTS) {
        await learn(tenant, 'agent', text(tenant, 'pages of 50'));
        await learn(tenant, 'global', text(tenant, 'a time limit of 60000 ms'));
      }
      let recalls = 0;
      const across: string[] = [];
      const live = async (n: number): Promise<void> => {
        const tenant = TENANTS[n % 3] ?? null;
        const scope = n % 2 === 0 ? ('agent' as const) : ('global' as const);
        const run = {
          run_id: `run-${n}`,
          agent: 'clerk',
          policy: { ...DEFAULT_POLICY, memory: { ...DEFAULT_POLICY.memory, scope } },
          manifest: { stock: {} },
          loop_id: 'loop_1',
          ...(tenant !== null && { tenant }),
        } as unknown as PreparedRun;
        const reader = { scope, agent: 'clerk', tenant };
        const failure = {
          error_type: 'tool_error',
          description: 'If stock fails with HTTP_422',
        };
        const { reflections, startMemory } = test.store;
        const found = await Promise.all([
          startMemory.read(run).then(({ lessons }) => lessons),
          reflections.recallForFailure({ ...reader, ...failure, fingerprint: 'fp1:tool_error:stock:HTTP_422' }),
          reflections.recallForFailure({ ...reader, ...failure, fingerprint: 'fp1:another' }),
          reflections.similar({ ...reader, content: text(tenant, 'pages of 50') }),
          reflections.search({ agent: 'clerk', tenant }),
          reflections.search({ q: 'what worked was pages of 50', agent: 'clerk', tenant }),
        ]);
        for (const { content } of found.flat()) {
          recalls += 1;
          if (!content.includes(toldBy(tenant))) across.push(content);
        }
      };
      for (let n = 0; n < 1_000; n += 20) await Promise.all(Array.from({ length: 20 }, (_, k) => live(n + k)));
      expect(recalls).toBeGreaterThan(5_000);
      expect(across).toEqual([]);
    },
  );
});

describe('a value that nothing explains', () => {
  const claim = (n: number, over: { goal?: string; input?: string | null; tenant?: string | null } = {}) =>
    test.store.reflections.agreeOn({
      run: {
        scope: 'agent',
        agent: 'agreeing',
        tenant: over.tenant ?? null,
        run_id: `agreeing-${over.tenant}-${n}`,
        goal_hash: over.goal ?? `goal-${n}`,
        input_hash: over.input === undefined ? `input-${n}` : over.input,
      },
      fingerprint: 'fp1:a',
      claims: ['zone'],
    });

  it('a value that nothing explains is agreed on by the third run with another goal and another input', async () => {
    expect(await claim(1)).toEqual([]);
    expect(await claim(1)).toEqual([]);
    expect(await claim(2)).toEqual([]);
    expect(await claim(3, { goal: 'goal-2' })).toEqual([]);
    expect(await claim(4, { input: 'input-1' })).toEqual(['zone']);
  });

  it('a value that nothing explains is agreed on by runs without an input if their goals differ', async () => {
    for (const n of [1, 2]) expect(await claim(n, { tenant: 'bare', input: null })).toEqual([]);
    expect(await claim(3, { tenant: 'bare', input: null })).toEqual(['zone']);
  });

  it('a value that nothing explains is not agreed on across tenants', async () => {
    for (const [n, tenant] of ['t1', 't2', 't3'].entries()) expect(await claim(n, { tenant })).toEqual([]);
  });
});
