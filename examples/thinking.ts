/** An agent with a model and a typed result. Needs `MODEL` and `OPENAI_API_KEY`, or `OPENAI_BASE_URL`. */
import { z } from 'zod';
import { defineAgent, defineTool } from 'secondwind';

const INVOICES: Record<string, string> = {
  'A-17': 'Bolts & Co. 40 bolts M8 at 0.55 each, delivery 4.50. Please pay within 30 days.',
};

const readInvoice = defineTool({
  name: 'read_invoice',
  description: 'the text of an invoice by its number',
  effect: 'read',
  input: z.object({ number: z.string() }),
  output: z.object({ text: z.string() }),
  run: ({ number }) => ({ text: INVOICES[number] ?? 'there is no such invoice' }),
});

export default defineAgent({
  name: 'invoice-clerk',
  instructions: 'You read invoices. Look the invoice up, work out its total, and answer with what it says.',
  tools: [readInvoice],
  output: z.object({ supplier: z.string(), total_cents: z.int().nonnegative() }),
  policy: { budget: { max_model_calls: 10, max_tokens: 50_000 } },
});
