/** A person approves each payment before it is made. The agent is told the exact answer. */
import { z } from 'zod';
import { defineAgent, defineTool } from 'secondwind';

/** Stands for your bank, which must recognise a repeated payment by its key. */
export const payments = new Map<string, { to: string; cents: number }>();

const pay = defineTool({
  name: 'pay',
  description: 'pays an amount to somebody',
  effect: 'side_effect',
  approval: true,
  input: z.object({ to: z.string(), cents: z.int().positive() }),
  output: z.object({ receipt: z.string() }),
  run: (payment, { idempotencyKey }) => {
    payments.set(idempotencyKey, payment);
    return { receipt: idempotencyKey };
  },
  reconcile: (_payment, { idempotencyKey }) =>
    payments.has(idempotencyKey) ? { verdict: 'done', output: { receipt: idempotencyKey } } : { verdict: 'not_done' },
});

export default defineAgent({
  name: 'payer',
  instructions: 'You pay what you are asked to pay, once, and say what came of it.',
  tools: [pay],
  policy: { humans: { deadline_ms: 3_600_000, default: 'stop' } },
});
