import { z } from 'zod';
import { boundSentence, createRegistry, defineAgent, defineTool, prepareRun } from '../src/index.ts';

const fetchPage = defineTool({
  name: 'fetch_page',
  effect: 'read', // may be retried; a side_effect is never repeated blindly
  input: z.object({ url: z.url() }),
  output: z.object({ text: z.string() }),
  run: async ({ url }, { signal }) => ({ text: await (await fetch(url, { signal })).text() }),
});
const plan = { steps: [{ phase: 'read', tool: 'fetch_page', input: { url: 'https://example.com' } }] };
export const registry = createRegistry([defineAgent({ name: 'reader', tools: [fetchPage], plan })]);

const asked = prepareRun({ agent: 'reader', goal: 'read a page' }, registry, 'run-1');
if (asked.ok) console.log(boundSentence(asked.prepared.bound));
