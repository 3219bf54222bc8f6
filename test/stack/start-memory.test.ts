/** Needs the stack. Shows what a run knows when it starts, and that nothing of it can hold up a start. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { defineAgent } from '../../src/define/define-agent.ts';
import { defineTool } from '../../src/define/define-tool.ts';
import { ToolError } from '../../src/define/tool-error.ts';
import { EMPTY_START_MEMORY } from '../../src/protocol/lessons.ts';
import type { PolicyPatch } from '../../src/protocol/schemas/policy.ts';
import { loadStartMemory } from '../../src/store/start-memory.ts';
import { createStore } from '../../src/store/store.ts';
import { attemptsOf } from '../unit/core/retry/evaluations.ts';
import { prepared } from '../support/fixtures.ts';
import { openRunWorld, type RunWorld } from '../support/run-world.ts';

/** Each first attempt that sees no lesson fails; what the second one does differently is what is learnt. */
const shown: string[] = [];
const fetchRows = defineTool({
  name: 'fetch_rows',
  effect: 'read',
  input: z.object({ table: z.string() }),
  output: z.json(),
  run: (_input, ctx) => {
    shown.push(ctx.guidance.text);
    if (ctx.attempt === 1 && !ctx.guidance.text.includes('pages of 50')) {
      throw new ToolError('the server gave up', { category: 'server_error', code: 'HTTP_503' });
    }
    if (ctx.attempt > 1) ctx.changed('pages of 50');
    return [];
  },
});

let world: RunWorld;
beforeAll(async () => {
  world = await openRunWorld([
    defineAgent({ name: 'reader', tools: [fetchRows], policy: { retry: { base_ms: 1, max_wait_ms: 10 } } }),
  ]);
  await world.startWorker();
});
afterAll(() => world.close());

const plan = { steps: [{ phase: 'read', tool: 'fetch_rows', input: { table: 'invoices' } }] };
const ready = (agent: string, policy: PolicyPatch = {}) => ({
  ...prepared({ agent: 'reader', goal: 'read', plan, policy }, world.registry),
  agent,
});
const learn = (agent: string, content: string, tools = ['fetch_rows']) =>
  world.store.reflections.persist({
    scope: 'agent',
    agent,
    error_type: 'tool_error',
    error_signature: content.slice(0, 100),
    fingerprint: 'fp1:x',
    content,
    rationale: '',
    tags: [],
    tools,
    context: {
      error_signature: '',
      original_query: '',
      iteration_count: 1,
      quality_improvement: 1,
      reflection_context: '',
    },
    similarity_threshold: 1,
  });

/** Every lesson is shown; trials have tests of their own. */
const SHOWN: PolicyPatch = { memory: { holdout: 0 } };

async function lived(policy: PolicyPatch = SHOWN) {
  shown.length = 0;
  const run_id = world.newRunId('run');
  await world.runs.start({ agent: 'reader', goal: 'read', plan, run_id, policy });
  return world.runs.result(run_id);
}

describe('a second run', () => {
  it('has what the first one learnt before its first attempt, and is right at once', async () => {
    expect(await lived()).toMatchObject({ outcome: 'completed', used: { attempts: 2 }, failures: { total: 1 } });
    const [kept] = await world.store.reflections.search({ agent: 'reader' });
    expect(kept).toMatchObject({ tools: ['fetch_rows'], content: expect.stringContaining('pages of 50') });

    expect(await lived()).toMatchObject({ outcome: 'completed', used: { attempts: 1 }, failures: { total: 0 } });
    expect(shown).toEqual([kept?.content]);
    expect(await world.store.reflections.get(kept?.id ?? 0)).toMatchObject({ succeeded_count: 1, failed_count: 0 });
  });

  it('knows nothing under a policy that keeps memory to the run', async () => {
    expect(await lived({ memory: { scope: 'run' } })).toMatchObject({ used: { attempts: 2 } });
  });

  it('has it also when it was started past our doors, from the bare command line', async () => {
    shown.length = 0;
    const run_id = world.newRunId('bare');
    const handle = await world.client.workflow.start('agentRun', {
      workflowId: `agent-run/${run_id}`,
      taskQueue: world.taskQueue,
      args: [{ agent: 'reader', goal: 'read', plan, policy: SHOWN }],
    });
    expect(await handle.result()).toMatchObject({ outcome: 'completed', used: { attempts: 1 } });
    expect(shown[0]).toContain('pages of 50');
  });
});

describe('what a run starts with', () => {
  it('is at most five lessons of its scope and its tools, each of at most 400 characters', async () => {
    for (let n = 0; n < 7; n += 1) await learn('many', `${n} ${'long '.repeat(200)}`);
    await learn('many', 'of another tool', ['mailer']);
    const { lessons } = await loadStartMemory(world.store.startMemory, ready('many', SHOWN));
    expect(lessons.map(({ content, tools, fingerprint }) => [content.length, tools, fingerprint])).toEqual(
      Array.from({ length: 5 }, () => [400, ['fetch_rows'], 'fp1:x']),
    );
    expect(lessons[0]?.content.startsWith('6 long')).toBe(true);
    expect(
      (await loadStartMemory(world.store.startMemory, ready('many', { memory: { scope: 'run' } }))).lessons,
    ).toEqual([]);
  });

  it('is the switch of its agent, with the reason', async () => {
    const agent = 'rolled-back';
    expect((await loadStartMemory(world.store.startMemory, ready(agent))).enhancement).toEqual({ on: true });
    await world.store.retryMonitors.append(
      Array.from({ length: 25 }, (_, step_id) => ({
        arm: step_id < 5 ? ('baseline' as const) : ('enhanced' as const),
        run_id: 'rolled',
        step_id,
        agent,
        model: null,
        subject: 's',
        attempts: attemptsOf(step_id < 5 ? ['ok'] : ['validation_grounding', 'validation_grounding']),
        created_at: new Date().toISOString(),
      })),
    );
    expect((await loadStartMemory(world.store.startMemory, ready(agent))).enhancement).toEqual({
      on: false,
      why: expect.stringMatching(/^Enhancement is off: over the last 20 evaluations success was 0 %/),
    });
  });

  it('is the counts of biases elsewhere, only under a policy that counts globally', async () => {
    await world.store.biasCounts.add({ family: 'elsewhere', loop_id: 'elsewhere', tags: ['optimism'] });
    await world.store.biasCounts.add({ family: 'foreign', loop_id: 'foreign', tags: ['optimism'], tenant: 'acme' });
    await world.store.biasCounts.add({ family: 'loop_run-1', loop_id: 'loop_run-1', tags: ['own'] });
    expect((await loadStartMemory(world.store.startMemory, ready('biased'))).bias_elsewhere).toBeNull();
    const memory = await loadStartMemory(world.store.startMemory, ready('biased', { bias: { scope: 'global' } }));
    expect(memory.bias_elsewhere).toEqual({ optimism: 1 });
  });
});

describe('a memory that cannot be read', () => {
  it('counts as empty, is told, and the run starts all the same', async () => {
    const away = createStore('postgres://nobody:nothing@127.0.0.1:1/nowhere');
    const told: string[] = [];
    const { runs } = world.clientWith({ store: away, onMemoryFailure: (reason) => told.push(reason) });
    const run_id = world.newRunId('away');
    await runs.start({ agent: 'reader', goal: 'read', plan, run_id });
    expect(await runs.result(run_id)).toMatchObject({ outcome: 'completed' });
    expect(told).toEqual([expect.stringContaining('cannot be reached')]);
    await away.close();
  });

  it('is not waited for beyond its deadline', async () => {
    const slow = { read: () => new Promise<never>(() => {}) };
    const told: string[] = [];
    const memory = await loadStartMemory(slow, ready('slow'), { deadlineMs: 50, log: (reason) => told.push(reason) });
    expect(memory).toEqual(EMPTY_START_MEMORY);
    expect(told).toEqual(['no answer within 50 ms']);
  });
});
