/** An HTTP service as a tool. The run retries busy answers without the model. `SHOP_URL` names the shop. */
import { z } from 'zod';
import { defineAgent, httpTool } from 'secondwind';

const shop = new URL(process.env['SHOP_URL'] ?? 'https://shop.example');

const stock = httpTool({
  name: 'stock',
  description: 'how many of an item are left',
  effect: 'read',
  input: z.object({ item: z.string() }),
  output: z.object({ left: z.int() }),
  request: ({ item }) => ({ url: new URL(`/stock/${encodeURIComponent(item)}`, shop).href }),
  // Only needed if the shop is not on the public internet.
  allowPrivate: [shop.host],
  timeoutMs: 10_000,
});

export default defineAgent({
  name: 'stock-keeper',
  instructions: 'You answer questions about the stock of a shop. Look it up; never guess.',
  tools: [stock],
});
