/**
 * What a run leaves behind, seen where people and models read it: the next request to the model, the HTTP API, the text of
 * the command line. Real Temporal and Postgres; the model is a scripted server.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { type ServedApi, serveApi } from '../../src/api/serve.ts';
import type { FailureItem } from '../../src/client/views.ts';
import { isWithheld } from '../../src/core/lessons/assignment.ts';
import { defineAgent } from '../../src/define/define-agent.ts';
import { defineTool } from '../../src/define/define-tool.ts';
import type { Json } from '../../src/protocol/json.ts';
import { ToolError } from '../../src/define/tool-error.ts';
import { type ScriptedServer, serveScriptedModel } from '../../src/testing.ts';
import { type ApiWorld, openApiWorld, tokenOf } from '../support/api-world.ts';
import { runCommand } from './cli-process.ts';

/** Lists as many rows as it is asked for, of about 100 bytes each. */
const list = defineTool({
  name: 'list',
  effect: 'read',
  input: z.object({ limit: z.int() }),
  output: z.json(),
  maxOutputBytes: 8_000,
  run: ({ limit }) => Array.from({ length: limit }, (_, row) => ({ row, text: 'x'.repeat(80) })),
});
const search = defineTool({
  name: 'search',
  effect: 'read',
  kind: 'retrieval',
  input: z.object({ query: z.string(), query_id: z.string().optional() }),
  output: z.json(),
  run: ({ query_id }) => ({
    results: query_id === undefined ? [] : ['doc-7', 'doc-9'].map((id) => ({ id, evidence_id: 'ev-1', score: 0.1 })),
  }),
});

/** Its first attempt reports failed tests. The prompt of each later one is told. */
const prompts: string[] = [];
const mend = defineTool({
  name: 'mend',
  effect: 'read',
  detect: true,
  input: z.object({}),
  output: z.json(),
  run: async (_input, ctx) => {
    prompts.push(await ctx.enhance('Mend the parser.'));
    if (ctx.attempt > 1) return { mended: true };
    throw new ToolError('FAIL parser.test.ts > reads a date\n2 tests failed', { category: 'validation_unknown' });
  },
});

/** Refuses more than 100 pieces. A new version of it has another schema. */
const stock = (schema: z.ZodType<{ limit: number }>) =>
  defineTool({
    name: 'stock',
    effect: 'read',
    input: schema,
    output: z.json(),
    run: ({ limit }) => {
      if (limit > 100) throw new ToolError('limit 500 is over 100', { category: 'invalid_input', code: 'HTTP_422' });
      return { limit };
    },
  });
const clerkWith = (schema: z.ZodType<{ limit: number }>) =>
  defineAgent({
    name: 'clerk',
    instructions: 'Work.',
    model: { base_url: model.url, api_key: 'k', model: 'm' },
    tools: [stock(schema)],
  });

let world: ApiWorld;
let model: ScriptedServer;
let api: ServedApi;
beforeAll(async () => {
  model = await serveScriptedModel(({ messages }) => {
    if (JSON.stringify(messages).includes('Write about')) return { text: 'An answer.' };
    const results = messages.filter(({ role }) => role === 'tool').length;
    if (results > 1) return { text: 'done' };
    const tool = JSON.stringify(messages).includes('List all rows.') ? 'list' : 'stock';
    const [first, second] = tool === 'list' ? [400, 40] : [500, 100];
    return { calls: [{ tool, input: { limit: (results === 0 ? first : second) ?? 0 } }] };
  });
  const endpoint = { base_url: model.url, api_key: 'k', model: 'm' };
  world = await openApiWorld([
    defineAgent({ name: 'lister', instructions: 'List.', model: endpoint, tools: [list] }),
    defineAgent({ name: 'searcher', tools: [search] }),
    defineAgent({ name: 'mender', tools: [mend] }),
    clerkWith(z.object({ limit: z.int() })),
    defineAgent({
      name: 'writer',
      instructions: 'Write.',
      model: endpoint,
      tools: [],
      review: ({ loop_id }) =>
        loop_id.endsWith('_r1')
          ? { alignment_score: 0.9, drift_score: 0 }
          : { alignment_score: 0.3, drift_score: 0, missed: ['the answer to Ada does not name its 3 sources'] },
    }),
  ]);
  await world.startWorker();
  api = await serveApi(world.app, { host: '127.0.0.1', port: 0 });
}, 120_000);
afterAll(async () => {
  await api.close();
  await world.close();
  await model.close();
});

const cli = async (...args: string[]): Promise<string> =>
  (await runCommand([...args, '--url', api.url], { SECONDWIND_TOKEN: tokenOf('operator') })).stdout;
const failuresOf = async (runId: string): Promise<FailureItem[]> =>
  (await world.ask<{ failures: FailureItem[] }>('GET', `/v1/runs/${runId}/failures`)).body.failures;

describe('an output that is too large', () => {
  it('tells the model to ask for pages with the argument of the tool, and the page it then asks for works', async () => {
    const run_id = world.newRunId('lister');
    await world.runs.start({
      agent: 'lister',
      goal: 'List all rows.',
      run_id,
      policy: { retry: { unknown_error: 0 } },
    });
    expect(await world.runs.result(run_id)).toMatchObject({ outcome: 'completed' });
    expect(JSON.stringify(model.exchanges[1]?.request.messages.at(-1))).toContain(
      'If list fails with OUTPUT_TOO_LARGE again, then ask for pages with limit 200 or less.',
    );
    expect(await failuresOf(run_id)).toMatchObject([
      { recommended_adjustment: { type: 'paginate', tool_name: 'list', page_size: 200, argument: 'limit' } },
    ]);
  });
});

describe('the record of a failure', () => {
  it('points to the query, the chunks and the evidence that its call was about', { timeout: 60_000 }, async () => {
    const run_id = world.newRunId('searcher');
    const steps = [{ query: 'a', query_id: 'q-17' } as Json, { query: 'b' }].map((input) => ({
      phase: 'find',
      tool: 'search',
      input,
    }));
    const policy = { retry: { base_ms: 1 }, humans: { max_questions: 0, default: 'skip' as const } };
    await world.runs.start({ agent: 'searcher', goal: 'Find it.', run_id, plan: { steps }, policy });
    await world.runs.result(run_id);
    const [named, derived] = await failuresOf(run_id);
    expect(named?.context_refs).toMatchObject({
      query_id: 'q-17',
      chunk_ids: ['doc-7', 'doc-9'],
      evidence_ids: ['ev-1'],
    });
    expect(derived?.context_refs.query_id).toMatch(/^query:[0-9a-f]{16}$/);
    const printed = (await cli('failures', run_id)).replaceAll(/\s+/g, ' ');
    expect(printed).toContain('(query q-17; chunks doc-7, doc-9; evidence ev-1)');
  });
});

describe('a prompt that was refined because of the output of a tool', () => {
  it(
    'is in the feedback log, and the report says which action was followed by success',
    { timeout: 60_000 },
    async () => {
      const run_id = world.newRunId('mender');
      await world.runs.start({
        agent: 'mender',
        goal: 'Mend it.',
        run_id,
        plan: { steps: [{ phase: 'mend', tool: 'mend', input: {} }] },
        policy: { retry: { base_ms: 1, enhance_holdout: 0 } },
      });
      expect(await world.runs.result(run_id)).toMatchObject({ outcome: 'completed' });
      const { body } = await world.ask('GET', `/v1/feedback/log?run_id=${run_id}`);
      expect(body['log']).toMatchObject([
        {
          source: 'tool_output',
          feedback_type: 'verification_failure',
          feedback_signal: expect.stringContaining('reads a date'),
          original_prompt: 'Mend the parser.',
          refined_prompt: prompts[1],
          actions_applied: expect.arrayContaining(['add_test_context']),
          iteration: 1,
          success: true,
        },
      ]);
      const found = await world.ask<{ effectiveness: object[] }>('GET', '/v1/feedback/effectiveness');
      const row = { source: 'tool_output', action: 'add_test_context', n: 1, succeeded: 1, success_rate: 1 };
      expect(found.body.effectiveness).toContainEqual(expect.objectContaining(row));
      expect(await cli('refinements')).toMatch(/add_test_context +verification_failure +tool output +1 +1 \(100 %\)/);
      expect(await (await world.fetch('/metrics')).text()).toMatch(
        /secondwind_refinements_succeeded\{source="tool_output",feedback_type="verification_failure",action="add_test_context"\} 1/,
      );
    },
  );
});

describe('a lesson about a tool', () => {
  interface Listed {
    id: number;
    status: string;
    superseded_because: string | null;
  }
  const LESSON = 'then what worked was limit 100';
  /** Lives one run and returns the text of its first request to the model. */
  const firstRequest = async (at: ApiWorld): Promise<string> => {
    const before = model.exchanges.length;
    const run_id = at.newRunId('clerk');
    await at.runs.start({ agent: 'clerk', goal: 'Count it.', run_id, policy: { memory: { holdout: 0 } } });
    expect(await at.runs.result(run_id)).toMatchObject({ outcome: 'completed' });
    return JSON.stringify(model.exchanges[before]?.request.messages);
  };
  const listed = async (at: ApiWorld): Promise<Listed[]> =>
    (await at.ask<{ reflections: Listed[] }>('GET', '/v1/reflections?agent=clerk')).body.reflections;

  it(
    'is superseded by a changed schema, says why, and holds again once it is learnt again',
    { timeout: 60_000 },
    async () => {
      expect(await firstRequest(world)).not.toContain(LESSON);
      expect(await firstRequest(world)).toContain(LESSON);
      const changed = clerkWith(z.object({ limit: z.int(), shelf: z.string().optional() }));
      const next = await openApiWorld([changed], {}, world.databaseUrl);
      await next.startWorker();
      const served = await serveApi(next.app, { host: '127.0.0.1', port: 0 });
      try {
        const why =
          'The schema of the tool stock has changed since it was learnt, so no run sees it until it is learnt again.';
        expect(await listed(next)).toMatchObject([{ status: 'superseded', superseded_because: why }]);
        const printed = await runCommand(['lessons', '--url', served.url], { SECONDWIND_TOKEN: tokenOf('operator') });
        expect(printed.stdout).toContain(why);
        // Neither at the start nor after the same failure is it shown to a run with the changed tool.
        const before = model.exchanges.length;
        expect(await firstRequest(next)).not.toContain(LESSON);
        expect(JSON.stringify(model.exchanges.slice(before).map(({ request }) => request.messages))).not.toContain(
          LESSON,
        );
        // That run has learnt it again, so it holds for both schemas.
        expect(await firstRequest(next)).toContain(LESSON);
        expect(await listed(next)).toMatchObject([{ status: 'candidate', superseded_because: null }]);
        expect(await firstRequest(world)).toContain(LESSON);
      } finally {
        await served.close();
        await next.close();
      }
    },
  );
});

describe('a review whose findings the next pass mended', () => {
  interface Learnt {
    id: number;
    status: string;
    content: string;
    context: { quality_improvement: number };
  }
  const FINDING = 'does not name its … sources';
  const firstRequest = async (run_id: string, policy: object): Promise<string> => {
    const before = model.exchanges.length;
    await world.runs.start({ agent: 'writer', goal: 'Write about it.', run_id, policy });
    expect(await world.runs.result(run_id)).toMatchObject({ outcome: 'completed', loops: 2 });
    return JSON.stringify(model.exchanges[before]?.request.messages);
  };

  it('is a candidate lesson with the measured gain that later runs see, and its trial counts first passes', async () => {
    expect(await firstRequest(world.newRunId('writer'), {})).not.toContain(FINDING);
    const found = await world.ask<{ reflections: Learnt[] }>('GET', '/v1/reflections?agent=writer');
    const [lesson] = found.body.reflections;
    expect(lesson).toMatchObject({ status: 'candidate', context: { quality_improvement: 0.6 } });
    expect(lesson?.content).toContain(FINDING);
    expect(lesson?.content).not.toContain('Ada');
    const id = lesson?.id ?? 0;
    let seen = world.newRunId('writer');
    while (isWithheld(seen, id, 0.5)) seen = world.newRunId('writer');
    expect(await firstRequest(seen, {})).toContain(FINDING);
    const { body } = await world.ask('GET', `/v1/reflections/${id}`);
    expect(body['trial']).toMatchObject({ shown: { n: 1, ok: 0 }, withheld: { n: 0, ok: 0 } });
  });
});
