/**
 * Needs the stack. What the document on failure reflection asks to be verified, one sentence each, on real runs and rows.
 * That guidance has only the most relevant rows, none that is settled, in one order, is shown in
 * test/unit/core/failures/guidance.test.ts; here that it stays so through a real run.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { defineAgent } from '../../src/define/define-agent.ts';
import { defineTool } from '../../src/define/define-tool.ts';
import { ToolError } from '../../src/define/tool-error.ts';
import type { Json } from '../../src/protocol/json.ts';
import type { FailureRecord } from '../../src/protocol/schemas/failure-record.ts';
import type { PolicyPatch } from '../../src/protocol/schemas/policy.ts';
import { openRunWorld, type RunWorld } from '../support/run-world.ts';
import type { RunRequest } from '../../src/protocol/run.ts';

const input = z.object({ how: z.string().default('') });
const refused = () => {
  throw new ToolError('the server is down', { category: 'server_error', code: 'HTTP_503' });
};
/** What the tool `shown` got to see, attempt by attempt. */
const seen: string[] = [];
const tools = [
  defineTool({ name: 'break', effect: 'read', input, output: z.json(), run: refused }),
  defineTool({ name: 'find', effect: 'read', kind: 'retrieval', input, output: z.json(), run: () => [] }),
  defineTool({
    name: 'promise',
    effect: 'read',
    input,
    output: z.object({ total: z.number() }),
    run: () => ({ total: 'many' }) as never,
  }),
  defineTool({ name: 'look', effect: 'read', input, output: z.json(), run: () => 'the same as ever' }),
  defineTool({
    name: 'shown',
    effect: 'read',
    input,
    output: z.json(),
    run: ({ how }, ctx) => {
      seen.push(ctx.guidance.text);
      if (ctx.attempt > 3) return 'done';
      throw new ToolError(`failed in the ${how} way ${ctx.attempt}`, {
        category: 'server_error',
        code: `HTTP_50${ctx.attempt}`,
      });
    },
  }),
];
const QUICK: PolicyPatch = {
  retry: { base_ms: 1, max_wait_ms: 2, server_error: 0, validation: 0, unknown_error: 0 },
  humans: { deadline_ms: 1 },
  reruns: { max_reruns: 0 },
};

let world: RunWorld;
beforeAll(async () => {
  world = await openRunWorld([
    defineAgent({ name: 'planned', tools, policy: QUICK }),
    defineAgent({
      name: 'stubborn',
      tools,
      policy: QUICK,
      planner: { choose: (view) => ({ calls: [{ tool: view.goal, input: {} }] }) },
    }),
  ]);
  await world.startWorker();
});
afterAll(() => world.close());

const steps = (tool: string, count = 1, over: Json = {}) => ({
  steps: Array.from({ length: count }, () => ({ phase: 'work', tool, input: over })),
});

async function lived(name: string, request: Partial<RunRequest>) {
  const run_id = world.newRunId(name);
  await world.runs.start({ agent: 'planned', goal: 'verify', ...request, run_id });
  const result = await world.runs.result(run_id);
  return { run_id, result, records: await world.store.records.forRun(run_id) };
}

/** Every pointer of a record leads to something that is there. */
async function expectPointersToResolve(record: FailureRecord | undefined): Promise<void> {
  const { manifest_id, artifact_ids = [] } = record?.context_refs ?? {};
  expect(manifest_id).toMatch(/^[0-9a-f]{64}$/);
  const ids = [...new Set([manifest_id ?? '', ...artifact_ids])];
  expect([...(await world.store.artifacts.has(ids))].sort()).toEqual(ids.sort());
}

describe('each failure signal, injected, leaves a record in the store with pointers that resolve', () => {
  it.each<[FailureRecord['signal_type'], string, Parameters<typeof lived>[1]]>([
    ['tool_error', 'HTTP_503', { plan: steps('break') }],
    ['retrieval_failure', 'EMPTY_RESULT', { plan: steps('find') }],
    ['contract_violation', 'INVALID_OUTPUT', { plan: steps('promise') }],
    ['loop_stall', 'same_call_same_outcome', { agent: 'stubborn', goal: 'look' }],
    ['budget_pressure', 'STEPS_SOFT', { plan: steps('look', 4), policy: { budget: { max_steps: 5 } } }],
  ])('%s (%s)', async (signal_type, error_code, request) => {
    const { records } = await lived(signal_type.replaceAll('_', '-'), request);
    const record = records.find((one) => one.signal_type === signal_type);
    expect(record?.observed_outcome).toMatchObject({ error_code });
    await expectPointersToResolve(record);
  });

  it('human_correction (CORRECTED)', async () => {
    const run_id = world.newRunId('corrected');
    const policy = { humans: { deadline_ms: 60_000 } };
    await world.runs.start({ agent: 'planned', goal: 'verify', plan: steps('break'), policy, run_id });
    const question = async () => (await world.runs.get(run_id)).pending_question?.question_id;
    await expect.poll(question, { timeout: 15_000 }).toBeDefined();
    const said = { decision: 'correct', text: 'use the other region', by: 'ada' } as const;
    await world.runs.answer(run_id, { ...said, question_id: (await question()) ?? '' });
    await expect
      .poll(async () => (await world.store.records.forRun(run_id)).map((one) => one.signal_type), { timeout: 15_000 })
      .toContain('human_correction');
    await world.runs.cancel(run_id, { by: 'ada' }, { waitMs: 0 });
    await world.runs.result(run_id);
    const records = await world.store.records.forRun(run_id);
    const record = records.find((one) => one.signal_type === 'human_correction');
    expect(record?.observed_outcome).toMatchObject({ kind: 'correction', error_code: 'CORRECTED' });
    await expectPointersToResolve(record);
  });
});

describe('repeated identical failures', () => {
  it('have the same fingerprint and increment the counter, in the run and in the store', async () => {
    const policy = { retry: { server_error: 2 } };
    const { run_id, result, records } = await lived('repeated', { plan: steps('break'), policy });
    expect(records.map((record) => record.signal_type)).toEqual(['tool_error', 'tool_error', 'tool_error']);
    expect(new Set(records.map((record) => record.fingerprint)).size).toBe(1);
    expect(await world.store.failureStatus.forRun(run_id)).toMatchObject([
      { status: 'active', occurrence_count: 3, last_seen_step_id: 1 },
    ]);
    expect(result.failures).toMatchObject({ total: 3, active: 1 });
  });
});

describe('guidance of a real run', () => {
  it('has at most k rows, none of a resolved failure, and the same bytes in the same situation', async () => {
    const policy = { retry: { server_error: 5 }, failures: { guidance_k: 2 }, memory: { scope: 'run' } } as const;
    const live = async (): Promise<string[]> => {
      seen.length = 0;
      const plan = {
        steps: [...steps('shown', 1, { how: 'first' }).steps, ...steps('shown', 1, { how: 'second' }).steps],
      };
      const { result, run_id } = await lived('shown', { plan, policy });
      expect(result.outcome).toBe('completed');
      const statuses = (await world.store.failureStatus.forRun(run_id)).map((failure) => failure.status);
      expect(new Set(statuses)).toEqual(new Set(['resolved']));
      return [...seen];
    };
    const first = await live();
    expect(first.map((text) => (text === '' ? 0 : text.split('\n').length))).toEqual([0, 1, 2, 2, 0, 1, 2, 2]);
    expect(await live()).toEqual(first);
  });
});

describe('at the repeat threshold', () => {
  it('a failure that an answer can unblock asks a person', async () => {
    const { result, records } = await lived('asks', { agent: 'stubborn', goal: 'break' });
    expect(records.filter((record) => record.signal_type === 'tool_error')).toHaveLength(3);
    expect(result).toMatchObject({ outcome: 'finalized', reason: 'question_timed_out' });
  });

  it('a broken invariant ends in a system error, and nobody is asked', async () => {
    const missing = { $artifact: 'f'.repeat(64) };
    const plan = { steps: [{ phase: 'work', tool: 'look', input: { how: missing } }] };
    const { result, records } = await lived('invariant', { plan });
    expect(records).toMatchObject([{ severity: 'critical', observed_outcome: { kind: 'pointer_unresolved' } }]);
    expect(result).toMatchObject({ outcome: 'system_error' });
  });
});
