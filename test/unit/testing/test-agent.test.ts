/** The helper with which users test their agents: their own tools in virtual time, without a stack. */
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { agentTool, defineAgent, defineTool, RunRequestError, ToolError } from '../../../src/index.ts';
import { testAgent } from '../../../src/testing.ts';

const findOrders = defineTool({
  name: 'find_orders',
  description: 'the orders of a customer',
  effect: 'read',
  input: z.object({ limit: z.int() }),
  output: z.array(z.string()),
  run: ({ limit }) => {
    if (limit > 100) throw new RangeError(`limit ${limit} is over 100`);
    return Array.from({ length: limit }, (_, index) => `order ${index} ${'x'.repeat(200)}`);
  },
});
const sent: unknown[] = [];
const sendMail = defineTool({
  name: 'send_mail',
  description: 'sends a mail',
  effect: 'side_effect',
  approval: true,
  input: z.object({ to: z.string() }),
  output: z.string(),
  run: ({ to }) => {
    sent.push(to);
    return `sent to ${to}`;
  },
});
const clerk = defineAgent({ name: 'clerk', instructions: 'Help.', model: 'none', tools: [findOrders, sendMail] });
const call = (tool: string, input: object) => ({ calls: [{ tool, input: input as never }] });

describe('testAgent', () => {
  it('returns the result, the attempts, the guidance and what the model was sent', async () => {
    const { result, attempts, guidance, requests, records } = await testAgent(clerk, {
      goal: 'What is there?',
      model: [call('find_orders', { limit: 500 }), call('find_orders', { limit: 2 }), { text: 'Two orders.' }],
    });
    expect(result).toMatchObject({ outcome: 'completed', result: { output: 'Two orders.' } });
    expect(attempts.map(({ input, outcome }) => [input, outcome.class])).toEqual([
      [{ limit: 500 }, 'failed'],
      [{ limit: 500 }, 'failed'],
      [{ limit: 2 }, 'ok'],
    ]);
    expect(attempts[1]?.waited_ms).toBeGreaterThan(0);
    expect(guidance).toContain('If find_orders fails with RangeError again, then change its arguments.');
    expect(requests).toHaveLength(3);
    expect(JSON.stringify(requests[1]?.messages)).toContain('limit 500 is over 100');
    expect(records).toHaveLength(2);
  });

  it('answers questions, also with an edited input, and returns the questions', async () => {
    sent.length = 0;
    const { result, questions } = await testAgent(clerk, {
      model: [call('send_mail', { to: 'ada@example.org' }), { text: 'Sent.' }],
      answers: [{ decision: 'approve', input: { to: 'bob@example.org' } }],
    });
    expect(result.outcome).toBe('completed');
    expect(questions).toMatchObject([{ tool: 'send_mail', input: { to: 'ada@example.org' } }]);
    expect(sent).toEqual(['bob@example.org']);
  });

  it('waits through deadlines in virtual time if nobody answers', async () => {
    const started = performance.now();
    const { result } = await testAgent(clerk, {
      model: [call('send_mail', { to: 'ada@example.org' }), { text: 'Nobody allowed it.' }],
    });
    expect(result.ended_at > result.started_at).toBe(true);
    expect(performance.now() - started).toBeLessThan(Date.parse(result.ended_at) - Date.parse(result.started_at));
  });

  it('runs a plan whose steps use large outputs of others, and the agents that it calls', async () => {
    const count = defineTool({
      name: 'count',
      effect: 'read',
      input: z.object({ orders: z.array(z.string()) }),
      output: z.int(),
      run: ({ orders }) => orders.length,
    });
    const helper = defineAgent({
      name: 'helper',
      tools: [findOrders, count],
      plan: {
        steps: [
          { id: 'find', phase: 'find', tool: 'find_orders', input: { limit: 90 } },
          { phase: 'count', tool: 'count', input: { orders: { $step: 'find' } } },
        ],
      },
    });
    const boss = defineAgent({
      name: 'boss',
      tools: [agentTool(helper)],
      plan: { steps: [{ phase: 'ask', tool: 'helper', input: { goal: 'count the orders' } }] },
    });
    const { result, attempts } = await testAgent(boss);
    expect(result.outcome).toBe('completed');
    expect(attempts.map(({ tool }) => tool)).toEqual(['find_orders', 'count']);
    expect(attempts[1]?.outcome).toMatchObject({ class: 'ok', output: 90 });
  });

  it('lets a test replace a part of the world', async () => {
    const { result } = await testAgent(clerk, {
      model: [call('find_orders', { limit: 1 }), { text: 'It is down.' }],
      world: { storeIsUp: () => false },
    });
    expect(result.unsaved?.archive).toBe(true);
  });

  it('refuses a request that cannot run, with its problems', async () => {
    const told = testAgent(clerk, { model: [], goal: '' });
    await expect(told).rejects.toThrow(RunRequestError);
    await expect(told).rejects.toThrow('$.goal');
  });

  it('says what was expected if a shape is wrong', async () => {
    const wrong = (options: object) => testAgent(clerk, options);
    await expect(testAgent({} as never)).rejects.toThrow('must be an agent, as defineAgent returns it');
    await expect(wrong({ model: { text: 'done' } })).rejects.toThrow('`model` must be a list of turns');
    await expect(wrong({ answers: 'yes' })).rejects.toThrow('`answers` must be a list');
    await expect(wrong({ world: null })).rejects.toThrow('`world` must be an object of functions');
    const planned = defineAgent({
      name: 'planned',
      tools: [findOrders],
      plan: { steps: [{ phase: 'find', tool: 'find_orders', input: { limit: 1 } }] },
    });
    await expect(testAgent(planned, { model: [] })).rejects.toThrow('has no instructions');
  });

  it('shows the category that a tool states', async () => {
    const flaky = defineTool({
      name: 'flaky',
      effect: 'read',
      input: z.object({}),
      output: z.string(),
      run: (_input, { attempt }) => {
        if (attempt === 1) throw new ToolError('not awake yet', { category: 'server_error' });
        return 'awake';
      },
    });
    const plan = { steps: [{ phase: 'wake', tool: 'flaky', input: {} }] };
    const { attempts } = await testAgent(defineAgent({ name: 'waker', tools: [flaky], plan }));
    expect(attempts[0]?.outcome).toMatchObject({ class: 'failed', category: 'server_error' });
    expect(attempts[1]?.guidance.join('\n')).toContain('flaky fails with SERVER_ERROR');
  });
});
