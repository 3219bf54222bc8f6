import { z } from 'zod';
import { createSecondwind, defineAgent, defineTool } from 'secondwind/server';
import { scriptedModel } from 'secondwind/testing';

const findOrders = defineTool({
  name: 'find_orders',
  description: 'the orders of a customer',
  effect: 'read', // may be retried; a side_effect is never repeated blindly
  input: z.object({ customer: z.string(), limit: z.int() }),
  output: z.array(z.string()),
  run: ({ customer, limit }) => {
    if (limit > 100) throw new RangeError(`limit ${limit} is over 100`);
    return [`${customer}: 40 bolts`, `${customer}: 12 nuts`];
  },
});
// A script instead of a model, so that this runs without a key. With a key: model: 'gpt-5-mini'
const model = scriptedModel([
  { calls: [{ tool: 'find_orders', input: { customer: 'Ada', limit: 500 } }] },
  { calls: [{ tool: 'find_orders', input: { customer: 'Ada', limit: 100 } }] },
  { text: 'Ada ordered bolts and nuts.' },
]);
const clerk = defineAgent({ name: 'clerk', instructions: 'Answer from the orders.', model, tools: [findOrders] });

const sw = await createSecondwind({ agents: [clerk] });
const { outcome, result, failures } = await sw.run(clerk, { goal: 'What did Ada order?' });
console.log(`${outcome}:`, result?.output, `(${failures.total} failures, shown to the model)`);
await sw.close();
