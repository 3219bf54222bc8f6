/** Agents that think, in virtual time: the story, the real turn, and a scripted model in process. */
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import type { PlannerView } from '../../../src/core/run/ports.ts';
import { defineAgent, type AgentDefinition } from '../../../src/define/define-agent.ts';
import { defineTool } from '../../../src/define/define-tool.ts';
import { planTurn } from '../../../src/model/plan-turn.ts';
import type { Json } from '../../../src/protocol/json.ts';
import type { PolicyPatch } from '../../../src/protocol/schemas/policy.ts';
import { scriptedModel, type Script } from '../../../src/testing.ts';
import { liveThinking, quietEnvironment } from '../../support/thinking.ts';

const add = defineTool({
  name: 'math.add',
  description: 'adds two numbers',
  effect: 'read',
  input: z.object({ a: z.number(), b: z.number() }),
  output: z.object({ sum: z.number() }),
  run: ({ a, b }) => ({ sum: a + b }),
});
const broken = defineTool({
  name: 'math.divide',
  effect: 'read',
  input: z.object({ by: z.number() }),
  output: z.json(),
  run: ({ by }) => {
    if (by === 0) throw Object.assign(new Error('division by zero'), { category: 'invalid_input', code: 'DIV_ZERO' });
    return 1 / by;
  },
});

async function think(script: Script, more: Partial<AgentDefinition> = {}, policy: PolicyPatch = {}) {
  const model = scriptedModel(script);
  const agent = defineAgent({ name: 'thinker', instructions: 'Do sums.', model, tools: [add, broken], ...more });
  return { ...(await liveThinking([agent], { policy })), model };
}

describe('an agent that thinks', () => {
  it('an agent with instructions calls tools until it answers, and each call is a step', async () => {
    const { result, model, views } = await think([
      { calls: [{ tool: 'math.add', input: { a: 2, b: 3 } }] },
      { text: 'It is 5.' },
    ]);
    expect(result).toMatchObject({ outcome: 'completed', used: { steps: 1, attempts: 1, model_calls: 2 } });
    expect(result?.result?.output).toBe('It is 5.');
    expect(model.exchanges[1]?.request.messages.map(({ role }) => role)).toEqual([
      'system',
      'user',
      'assistant',
      'tool',
    ]);
    // The conversation travels as an id; a view holds only what the model has not been told yet.
    expect(views[1]?.transcript).toMatch(/^[0-9a-f]{64}$/);
    expect(views[1]?.steps).toHaveLength(1);
  });

  it('a run counts the tokens that the model reports', async () => {
    const { result } = await think([{ text: 'Five.', usage: { inputTokens: 70, outputTokens: 7 } }]);
    expect(result?.used).toMatchObject({ model_calls: 1, tokens: 77 });
  });

  it('parallel calls run side by side, and each gets its own result', async () => {
    const { result, model } = await think([
      {
        calls: [
          { tool: 'math.add', input: { a: 1, b: 1 } },
          { tool: 'math.add', input: { a: 2, b: 2 } },
        ],
      },
      { text: 'done' },
    ]);
    expect(result?.used.steps).toBe(2);
    const tools = model.exchanges[1]?.request.messages.filter(({ role }) => role === 'tool');
    expect(tools).toMatchObject([{ output: '{"sum":2}' }, { output: '{"sum":4}' }]);
  });

  it('invalid arguments are returned to the model, with one attempt and one more request', async () => {
    const { result, model } = await think([
      { fault: 'wrong_arguments', tool: 'math_add' },
      { calls: [{ tool: 'math.add', input: { a: 2, b: 3 } }] },
      { text: '5' },
    ]);
    expect(result).toMatchObject({ outcome: 'completed', used: { attempts: 2, model_calls: 3 } });
    const told = model.exchanges[1]?.request.messages.at(-2);
    expect(told).toMatchObject({ role: 'tool', output: expect.stringContaining('INVALID_INPUT') });
  });

  it.each([['{"where": "id = 7"'], ['[1]'], ['null'], ['"id=7"'], ['7']])(
    'a tool never runs with arguments that are not a JSON object: %s',
    async (written) => {
      const deleted: unknown[] = [];
      const remove = defineTool({
        name: 'delete_rows',
        effect: 'side_effect',
        input: z.object({ where: z.string().optional() }),
        output: z.string(),
        run: (input) => {
          deleted.push(input);
          return 'deleted';
        },
      });
      const { result, model } = await think(
        [
          { calls: [{ tool: 'delete_rows', arguments: written }] },
          { calls: [{ tool: 'delete_rows', input: { where: 'id = 7' } }] },
          { text: 'done' },
        ],
        { tools: [remove] },
      );
      expect(deleted).toEqual([{ where: 'id = 7' }]);
      expect(result).toMatchObject({ outcome: 'completed', used: { attempts: 1, model_calls: 3 } });
      expect(JSON.stringify(model.exchanges[1]?.request.messages.at(-1))).toContain('expected a JSON object');
    },
  );

  it('an invented tool and an invalid answer are repaired within the budget', async () => {
    const { result, model } = await think(
      [
        { fault: 'invented_tool' },
        { calls: [{ tool: 'math.add', input: { a: 2, b: 3 } }] },
        { json: { total: 'five' } },
        { json: { total: 5 } },
      ],
      { output: z.object({ total: z.number() }) },
    );
    expect(result).toMatchObject({ outcome: 'completed', result: { output: { total: 5 } }, used: { model_calls: 4 } });
    expect(model.exchanges[3]?.request.messages.at(-1)).toMatchObject({ role: 'user' });
    expect(JSON.stringify(model.exchanges[3]?.request.messages.at(-1))).toContain('could not be used');
  });

  it('asynchronous checks of an output are awaited', async () => {
    const output = z.object({ total: z.number() }).refine(async ({ total }) => total === 5, 'must be 5');
    const { result, model } = await think([{ json: { total: 4 } }, { json: { total: 5 } }], { output });
    expect(result).toMatchObject({ outcome: 'completed', result: { output: { total: 5 } }, used: { model_calls: 2 } });
    expect(JSON.stringify(model.exchanges[1]?.request.messages.at(-1))).toContain('must be 5');
  });

  it('a check of an output that throws counts as an invalid answer', async () => {
    const output = z.object({ list: z.string().transform((text) => JSON.parse(text) as unknown) });
    const { result } = await think([{ json: { list: 'no JSON' } }, { json: { list: '[1]' } }], { output });
    expect(result).toMatchObject({ outcome: 'completed', used: { model_calls: 2 } });
  });

  it('a schema that cannot be sent to a model is reported, and nothing is sent', async () => {
    const output = z.lazy((): z.ZodString => {
      throw new Error('has no words for this');
    });
    const { state, model } = await think([], { output });
    expect(model.counts().requests).toBe(0);
    expect(JSON.stringify(state)).toContain('INVALID_SCHEMA');
  });

  it('failed calls at the end of a conversation are replaced by one block of guidance', async () => {
    const { model, result } = await think([
      { calls: [{ tool: 'math.divide', input: { by: 0 } }] },
      { calls: [{ tool: 'math.divide', input: { by: 0 } }] },
      { calls: [{ tool: 'math.divide', input: { by: 2 } }] },
      { text: '0.5' },
    ]);
    expect(result?.outcome).toBe('completed');
    const third = model.exchanges[2]?.request.messages ?? [];
    expect(third.map(({ role }) => role)).toEqual(['system', 'user']);
    expect(JSON.stringify(third.at(-1))).toContain('DIV_ZERO');
  });

  it.each([
    ['the latest output, when that is what is too long', [7_000], 'w w … cut'],
    ['older outputs, and leaves a short latest one as it is', [7_000, 40], 'w w w w w w w w w w w w w w w w w w w w '],
    ['both, when the latest is the longer one', [3_000, 7_000], 'w w … cut'],
  ])('a conversation that is too long for the model is shortened: %s', async (_which, lengths, latest) => {
    const read = defineTool({
      name: 'read',
      effect: 'read',
      input: z.object({ chars: z.number() }),
      output: z.string(),
      run: ({ chars }) => 'w '.repeat(chars / 2),
    });
    const { result, model } = await think(
      ({ messages }) => {
        if (JSON.stringify(messages).length > 7_000) return { fault: 'context_length' };
        const chars = lengths[messages.filter(({ role }) => role === 'tool').length];
        return chars === undefined ? { text: 'ok' } : { calls: [{ tool: 'read', input: { chars } }] };
      },
      { tools: [read] },
    );
    expect(result).toMatchObject({ outcome: 'completed', result: { output: 'ok' } });
    const last = model.exchanges.at(-1)?.request.messages.findLast(({ role }) => role === 'tool');
    expect(JSON.stringify(last).replaceAll(/(?:w )+w? ?\\n\[…/g, 'w w …')).toContain(latest);
  });

  it('when the budget of steps is used up, one last turn without tools follows', async () => {
    const { model, result } = await think(
      (request) =>
        request.toolChoice === 'none'
          ? { text: 'the best I have' }
          : { calls: [{ tool: 'math.add', input: { a: request.index, b: 1 } }] },
      {},
      { budget: { max_steps: 2 } },
    );
    expect(result).toMatchObject({ outcome: 'budget_exhausted', reason: 'steps' });
    expect(result?.result?.output).toBe('the best I have');
    expect(model.exchanges).toHaveLength(3);
    // Declared all the same: providers refuse the results of tools that are not.
    expect(model.exchanges[2]?.request.tools).toHaveLength(2);
    expect(model.counts().rejected).toBe(0);
  });

  it('tool calls in the last turn do not run, and the text of the answer is the result', async () => {
    const { model, result } = await think(
      ({ index }) => ({ text: `so far ${index}`, calls: [{ tool: 'math.add', input: { a: index, b: 1 } }] }),
      {},
      { budget: { max_model_calls: 2 } },
    );
    expect(result).toMatchObject({ outcome: 'budget_exhausted', used: { steps: 1, model_calls: 2 } });
    expect(result?.result?.output).toBe('so far 1');
    expect(model.exchanges.map(({ request }) => request.toolChoice)).toEqual(['auto', 'none']);
  });

  it('a run ends when its tokens are used up, and never uses more than its limit', async () => {
    const { result } = await think(
      (request) => ({
        calls: [{ tool: 'math.add', input: { a: request.index, b: 1 } }],
        usage: { inputTokens: 900, outputTokens: 100 },
      }),
      { maxOutputTokens: 100 },
      { budget: { max_tokens: 5_000 } },
    );
    expect(result).toMatchObject({ outcome: 'budget_exhausted', reason: 'tokens' });
    expect(result?.used.tokens).toBeLessThanOrEqual(5_000);
  });

  it('with a cost budget and no price nothing is sent, and the error says which price to add', async () => {
    const { result, model, views, state } = await think(
      [{ text: 'hi', usage: { inputTokens: 1_000_000, outputTokens: 2_000 } }],
      { prices: { 'gpt-5': { input: 1_000_000, output: 1_000_000 } } },
      { budget: { max_cost_micro_usd: 10, max_tokens: 5_000_000 } },
    );
    expect(model.counts().requests).toBe(0);
    expect(views).toHaveLength(1);
    expect(result).toMatchObject({ outcome: 'finalized', used: { tokens: 0, cost_micro_usd: 0 } });
    const told = JSON.stringify(state);
    expect(told).toContain('MODEL_NOT_PRICED');
    expect(told).toContain("scripted has no price: add it to the agent's prices");
  });

  it('a turn without a model fails with the setting to set', async () => {
    const agent = defineAgent({ name: 'nameless', instructions: 'x', tools: [] });
    const view = { transcript: null, repair: null, steps: [], feedback: [] } as unknown as PlannerView;
    const store = { getMany: async () => new Map<string, Json>(), putMany: async () => undefined };
    const outcome = await planTurn(agent, view, { ...quietEnvironment, store, environment: {} });
    expect(outcome).toMatchObject({ class: 'failed', error_code: 'MODEL_NOT_SET', category: 'auth' });
    expect(outcome.class === 'failed' && outcome.message_preview).toContain('set MODEL');
  });
});
