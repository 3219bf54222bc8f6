/** A call that a model chose goes back to the model when repeating it cannot help. */
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { defineAgent } from '../../../src/define/define-agent.ts';
import { defineTool } from '../../../src/define/define-tool.ts';
import { scriptedModel } from '../../../src/testing/scripted-model/language-model.ts';
import { liveThinking } from '../../support/thinking.ts';

const findOrders = (fail: (limit: number, attempt: number) => Error | null) =>
  defineTool({
    name: 'find_orders',
    description: 'the orders of a customer',
    effect: 'read',
    input: z.object({ limit: z.int() }),
    output: z.string(),
    run: ({ limit }, { attempt }) => {
      const error = fail(limit, attempt);
      if (error !== null) throw error;
      return 'two orders';
    },
  });

const clerk = (model: ReturnType<typeof scriptedModel>, tool: ReturnType<typeof findOrders>) =>
  defineAgent({ name: 'clerk', instructions: 'Answer from the orders.', model, tools: [tool] });

const turns = () =>
  scriptedModel([
    { calls: [{ tool: 'find_orders', input: { limit: 500 } }] },
    { calls: [{ tool: 'find_orders', input: { limit: 100 } }] },
    { text: 'Two orders.' },
  ]);

describe('an error that a tool throws without a category', () => {
  it('goes back to the model after the same words twice, and nobody is asked', async () => {
    const model = turns();
    const tool = findOrders((limit) => (limit > 100 ? new RangeError(`limit ${limit} is over 100`) : null));
    const { result, notices } = await liveThinking([clerk(model, tool)]);
    expect(result).toMatchObject({ outcome: 'completed', used: { attempts: 3, model_calls: 3 } });
    expect(notices).toEqual([]);
    expect(JSON.stringify(model.exchanges[1]?.request.messages)).toContain('limit 500 is over 100');
  });

  it('is retried within the step while the words differ', async () => {
    const model = scriptedModel([{ calls: [{ tool: 'find_orders', input: { limit: 5 } }] }, { text: 'Two orders.' }]);
    const words = ['the index is being built', 'the index is nearly built'];
    const tool = findOrders((_limit, attempt) => {
      const said = words[attempt - 1];
      return said === undefined ? null : new Error(said);
    });
    const { result } = await liveThinking([clerk(model, tool)]);
    expect(result).toMatchObject({ outcome: 'completed', used: { attempts: 3, model_calls: 2 } });
  });
});
