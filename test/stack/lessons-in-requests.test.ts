/**
 * What lessons put into the requests to a model: rules, not the data of other runs, and nothing of another tenant. Real
 * Temporal, Postgres and HTTP; the model is a scripted server.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { defineAgent } from '../../src/define/define-agent.ts';
import { defineTool } from '../../src/define/define-tool.ts';
import { ToolError } from '../../src/define/tool-error.ts';
import type { RunRequest } from '../../src/protocol/run.ts';
import { type ScriptedServer, serveScriptedModel } from '../../src/testing.ts';
import { type ApiWorld, openApiWorld, tokenOf } from '../support/api-world.ts';

const refusing = (name: string, argument: string, isFine: (value: unknown) => boolean, message: string) =>
  defineTool({
    name,
    effect: 'read',
    input: z.record(z.string(), z.json()),
    output: z.json(),
    run: (input) => {
      if (!isFine(input[argument])) throw new ToolError(message, { category: 'invalid_input', code: 'HTTP_422' });
      return { fine: true };
    },
  });
/** The errors of one tool, by the day that a goal names. A value in a goal would be the data of that run. */
const SHELF_ERRORS: Record<string, string> = {
  first: 'shelf plank 90 mm is over 40 for bracket 2f9c1d52-91a8-4c30-8b1f-0d3c8f3b7a11 in /srv/a/plan.json',
  reworded: 'shelf plank 75 mm is over 38 for bracket 7a1be0f4-22cd-4f0e-9a55-5b8d2e6c9f02 in /home/b/c/draft.json',
  half: 'plank 75 mm is over 38 for brack',
  unrelated: 'inventory clerk has gone home until Monday morning',
};
const tools = [
  refusing('stock', 'limit', (limit) => limit === 100, 'limit 500 is over 100'),
  refusing('orders', 'order', (order) => order === 4_017, 'this order is not in the warehouse'),
  refusing('tests', 'suite', (suite) => suite === 'good', '2 of 7 tests failed'),
  refusing('zones', 'zone', (zone) => zone === 'north', 'no such place'),
  defineTool({
    name: 'shelf',
    effect: 'read',
    input: z.record(z.string(), z.json()),
    output: z.json(),
    run: ({ day, width }) => {
      if (width === 40) return { fine: true };
      throw new ToolError(SHELF_ERRORS[typeof day === 'string' ? day : ''] ?? '', {
        category: 'invalid_input',
        code: 'HTTP_422',
      });
    },
  }),
];
/** The first call of each tool fails, the second one works. */
const INPUTS: Record<string, [object, object]> = {
  stock: [{ limit: 500 }, { limit: 100 }],
  orders: [{ order: 4_018 }, { order: 4_017 }],
  tests: [{ suite: 'bad' }, { suite: 'good' }],
  zones: [{ zone: 'south' }, { zone: 'north' }],
};

let world: ApiWorld;
let model: ScriptedServer;
beforeAll(async () => {
  model = await serveScriptedModel(({ messages }) => {
    const [, tool = ''] = /use (\w+)/.exec(JSON.stringify(messages)) ?? [];
    const results = messages.filter(({ role }) => role === 'tool').length;
    const [, day = ''] = /on the day (\w+)/.exec(JSON.stringify(messages)) ?? [];
    const input =
      tool === 'shelf'
        ? [
            { day, width: 90 },
            { day, width: 40 },
          ][results]
        : INPUTS[tool]?.[results];
    return input === undefined ? { text: 'done' } : { calls: [{ tool, input: input as Record<string, string> }] };
  });
  const agent = defineAgent({
    name: 'clerk',
    instructions: 'Work.',
    model: { base_url: model.url, api_key: 'k', model: 'm' },
    tools,
  });
  world = await openApiWorld([agent], {
    tokens: [
      { role: 'operator', token: tokenOf('operator') },
      { role: 'reporter', token: tokenOf('reporter'), tenant: 'bolt' },
    ],
  });
  await world.startWorker();
}, 120_000);
afterAll(async () => {
  await world.close();
  await model.close();
});

/** Lives one run and returns the text of its first request to the model. */
async function firstRequest(request: Partial<RunRequest>, role: 'operator' | 'reporter' = 'operator'): Promise<string> {
  const before = model.exchanges.length;
  const run_id = request.run_id ?? world.newRunId('told');
  // Every lesson is shown, unless a test is about trials.
  const policy = { memory: { holdout: 0 } };
  const body = { agent: 'clerk', goal: 'use stock', run_id, policy, ...request };
  expect((await world.ask('POST', '/v1/runs', { role, body })).status).toBe(201);
  expect(await world.runs.result(run_id)).toMatchObject({ outcome: 'completed' });
  return JSON.stringify(model.exchanges[before]?.request.messages);
}

describe('the first request of a run', () => {
  it('has the limit that the error of an earlier run named', { timeout: 60_000 }, async () => {
    expect(await firstRequest({})).not.toContain('what worked');
    expect(await firstRequest({})).toContain(
      'If stock fails with HTTP_422, then what worked was limit 100 instead of 500.',
    );
  });

  it.each(['orders', 'tests'])(
    'has nothing of the values of one earlier run: %s',
    { timeout: 60_000 },
    async (tool) => {
      await firstRequest({ goal: `use ${tool}` });
      const second = await firstRequest({ goal: `use ${tool}` });
      expect(second).not.toMatch(/4017|4018|good|bad/);
      expect(second).not.toContain(`If ${tool} fails`);
    },
  );

  it('has a value that three runs with other goals and inputs agree on', { timeout: 60_000 }, async () => {
    const live = (n: number) => firstRequest({ goal: `use zones for day ${n}`, input: { day: n }, tenant: 'agreeing' });
    for (const n of [1, 2, 3]) expect(await live(n)).not.toContain('north');
    expect(await live(4)).toContain('If zones fails with HTTP_422, then what worked was zone north.');
  });
});

describe('the request after a failure', () => {
  const LESSON = 'what worked was width 40';
  /** Lives one run whose tool fails with an error, and returns its requests before and after the failure. */
  async function aroundFailure(tenant: string, day: keyof typeof SHELF_ERRORS): Promise<string[]> {
    const before = model.exchanges.length;
    await firstRequest({ tenant, goal: `use shelf on the day ${day}` });
    return model.exchanges.slice(before, before + 2).map(({ request }) => JSON.stringify(request.messages));
  }

  it(
    'has the lesson if the error is the same in other words, and not if it is unrelated',
    { timeout: 60_000 },
    async () => {
      const tenant = 'rewording';
      await aroundFailure(tenant, 'first');
      // Better lessons about the same tool take all places at the start of a run.
      for (const n of [1, 2, 3, 4, 5]) {
        const content = `The shelf has colour number ${n}, which is nice ${'very '.repeat(n)}`;
        const lesson = { error_type: 'style', content, context: 'c', query: 'q', iteration: 1, quality_delta: 1 };
        const body = { ...lesson, tool_name: 'shelf', agent: 'clerk', tenant, changed_behavior: true };
        const { body: kept } = await world.ask('POST', '/v1/reflections', { body });
        await world.ask('POST', `/v1/reflections/${String(kept['id'])}/revisions`, {
          body: { action: 'pin', by: 'ada' },
        });
      }
      const told = async (whose: string, day: string) =>
        (await aroundFailure(whose, day)).map((request) => request.includes(LESSON));
      expect(await told(tenant, 'reworded')).toEqual([false, true]);
      expect(await told(tenant, 'half')).toEqual([false, true]);
      expect(await told(tenant, 'unrelated')).toEqual([false, false]);
      expect(await told('another-tenant', 'reworded')).toEqual([false, false]);
    },
  );
});

describe('a lesson on trial', () => {
  interface Preview {
    lessons: { content: string; status: string; shown: boolean; why: string }[];
  }

  it('is in the requests of exactly those runs of which the preview says so', { timeout: 60_000 }, async () => {
    const tenant = 'trying';
    await firstRequest({ tenant });
    const seen: boolean[] = [];
    for (let n = 0; n < 8; n += 1) {
      const run_id = world.newRunId('tried');
      const asked = { agent: 'clerk', run_id, tenant };
      const { body } = await world.ask<Preview>('POST', '/v1/reflections/preview', { body: asked });
      const [lesson] = body.lessons;
      expect(lesson).toMatchObject({ status: 'candidate', content: expect.stringContaining('limit 100') as string });
      const first = await firstRequest({ tenant, run_id, policy: {} });
      expect(first.includes('limit 100')).toBe(lesson?.shown);
      seen.push(lesson?.shown === true);
    }
    const { body } = await world.ask<{ reflections: { id: number }[] }>('GET', `/v1/reflections?tenant=${tenant}`);
    const { body: evidence } = await world.ask<{ trial: { shown: { n: number }; withheld: { n: number } } }>(
      'GET',
      `/v1/reflections/${body.reflections[0]?.id}`,
    );
    const shown = seen.filter(Boolean).length;
    expect(evidence.trial).toMatchObject({ shown: { n: shown, ok: 0 }, withheld: { n: 8 - shown }, verdict: 'open' });
  });

  it('is in every request once a person pins it, and in none while it is retired', { timeout: 60_000 }, async () => {
    const tenant = 'deciding';
    await firstRequest({ tenant });
    const { body } = await world.ask<{ reflections: { id: number }[] }>('GET', `/v1/reflections?tenant=${tenant}`);
    const revise = (action: string) =>
      world.ask('POST', `/v1/reflections/${body.reflections[0]?.id}/revisions`, { body: { action, by: 'ada' } });
    const live = async () => (await firstRequest({ tenant, policy: {} })).includes('limit 100');
    await revise('pin');
    expect([await live(), await live(), await live()]).toEqual([true, true, true]);
    await revise('retire');
    expect([await live(), await live()]).toEqual([false, false]);
    await revise('restore');
    expect(await live()).toBe(true);
  });
});

describe('a tenant', () => {
  const RULE = 'what worked was limit 100';

  it('sees its own lessons and none of another tenant', { timeout: 60_000 }, async () => {
    await firstRequest({ tenant: 'acme' });
    expect(await firstRequest({ tenant: 'acme' })).toContain(RULE);
    expect(await firstRequest({ tenant: 'cargo' })).not.toContain(RULE);
  });

  it('is that of the token, whatever the request says', { timeout: 60_000 }, async () => {
    expect(await firstRequest({}, 'reporter')).not.toContain(RULE);
    expect(await firstRequest({}, 'reporter')).toContain(RULE);
    const body = { agent: 'clerk', goal: 'use stock', tenant: 'acme' };
    const { status, body: problem } = await world.ask('POST', '/v1/runs', { role: 'reporter', body });
    expect([status, problem['type']]).toEqual([403, 'urn:secondwind:problem:weaker_role']);
    const { body: listed } = await world.ask<{ reflections: { tenant: string }[] }>('GET', '/v1/reflections', {
      role: 'reporter',
    });
    expect(listed.reflections.map(({ tenant }) => tenant)).toEqual(['bolt']);
  });
});
