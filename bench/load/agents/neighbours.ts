import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import { defineAgent } from '../../../src/define/define-agent.ts';
import { defineTool } from '../../../src/define/define-tool.ts';

const item = z.object({ id: z.number(), name: z.string(), tags: z.array(z.string()), size: z.number() });

const listItems = defineTool({
  name: 'neighbours.list',
  effect: 'read',
  input: z.object({ items: z.number() }),
  output: z.array(item),
  maxOutputBytes: 16 * 1024 * 1024,
  run: async ({ items }) =>
    Array.from({ length: items }, (_, id) => ({
      id,
      name: `item ${id} of a long list`,
      tags: ['b', 'a'],
      size: id / 3,
    })),
});

const wait = defineTool({
  name: 'neighbours.wait',
  effect: 'idempotent',
  input: z.object({ seconds: z.number() }),
  output: z.object({ waited: z.number() }),
  timeoutMs: 300_000,
  run: async ({ seconds }, { signal }) => {
    await sleep(seconds * 1_000, undefined, { signal });
    return { waited: seconds };
  },
});

export default defineAgent({ name: 'neighbours', tools: [listItems, wait] });
