/**
 * Prompt caches of providers hit only if a request starts with the bytes of the request before. One conversation of 100
 * turns, on a real Temporal and a real Postgres, with hand-overs, a worker restart, rate limits, failing tools and
 * outputs whose keys come in odd order. Slow, so it runs with `npm run test:slow`.
 */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { z } from 'zod';
import { defineAgent } from '../../src/define/define-agent.ts';
import { defineTool } from '../../src/define/define-tool.ts';
import { workflowIdOfRun } from '../../src/protocol/ids.ts';
import { type ScriptedServer, type ScriptedTurn, serveScriptedModel } from '../../src/testing.ts';
import { recordRequests, type RecordingProxy } from '../support/recording-proxy.ts';
import { openRunWorld, type RunWorld } from '../support/run-world.ts';

const TURNS = 100;
/** Pages that cannot be read. Two in a row are taken out of the conversation on purpose. */
const UNREADABLE = new Set([7, 30, 31, 60]);
/** Requests that the endpoint refuses because of its rate limit. */
const LIMITED = new Set([5, 50, 51]);

const readPage = defineTool({
  name: 'read_page',
  description: 'reads one page',
  effect: 'read',
  input: z.object({ zeta: z.string(), page: z.int(), alpha: z.string() }),
  output: z.json(),
  run: ({ page }) => {
    if (UNREADABLE.has(page)) throw new TypeError(`page ${page} is torn`);
    return { zebra: page, apple: { 'x-y': 1, 10: 'ten', 9: 'nine', b: [{ d: 1, c: 2 }] }, Mango: 'é', __proto: null };
  },
});

let turn = -1;
const script = ({ index }: { index: number }): ScriptedTurn => {
  if (LIMITED.has(index)) return { fault: 'rate_limit' };
  turn += 1;
  if (turn >= TURNS - 1) return { text: 'I have read it all.' };
  return { text: `page ${turn}`, calls: [{ tool: 'read_page', input: { zeta: 'z', page: turn, alpha: 'a' } }] };
};

let server: ScriptedServer;
let proxy: RecordingProxy;
let world: RunWorld;
beforeAll(async () => {
  server = await serveScriptedModel(script);
  proxy = await recordRequests(new URL(server.url).origin);
  const model = { base_url: `${proxy.url}/v1`, api_key: 'none', model: 'scripted' };
  world = await openRunWorld([
    defineAgent({ name: 'reader', instructions: 'Read every page.', model, tools: [readPage] }),
  ]);
}, 120_000);
afterAll(async () => {
  await world.close();
  await proxy.close();
  await server.close();
});

interface Body {
  messages: { role: string; content: unknown }[];
  tools: unknown[];
}

/** The messages without the guidance at their end, and the tools, as they were sent. */
function readBody(text: string): { messages: string; tools: string; told: string } {
  const { messages, tools } = JSON.parse(text) as Body;
  const last = messages.at(-1);
  const isGuided = messages.length > 2 && last?.role === 'user';
  const kept = isGuided ? messages.slice(0, -1) : messages;
  // The list stays open, so that a longer list can start with it.
  return {
    messages: JSON.stringify(kept).slice(0, -1),
    tools: JSON.stringify(tools),
    told: isGuided ? String(last?.content) : '',
  };
}

it(
  `each of ${TURNS} turns starts with the bytes of the turn before, except where failed calls were taken out`,
  { timeout: 300_000 },
  async () => {
    const stopFirst = await world.startWorker();
    const run_id = world.newRunId('reader');
    const policy = {
      budget: { max_steps: 200, max_attempts: 400, max_model_calls: 150, max_tokens: 50_000_000 },
      retry: { unknown_error: 0, base_ms: 10, max_wait_ms: 200 },
      failures: { escalate_at: 20 },
    };
    const { runs } = world.clientWith({ workflow: { hand_over_after_events: 300 } });
    await runs.start({ agent: 'reader', goal: 'Read the whole book', run_id, policy });
    await expect.poll(() => proxy.bodies.length, { timeout: 120_000 }).toBeGreaterThan(TURNS / 2);
    await stopFirst();
    await world.startWorker();
    const result = await world.runs.result(run_id);
    expect(result).toMatchObject({ outcome: 'completed', result: { output: 'I have read it all.' } });

    const [first] = (await world.client.workflow.getHandle(workflowIdOfRun(run_id)).fetchHistory()).events ?? [];
    expect(first?.workflowExecutionStartedEventAttributes?.continuedExecutionRunId).toBeTruthy();

    const { bodies } = proxy;
    expect(bodies.length).toBeGreaterThanOrEqual(TURNS + LIMITED.size);
    // The comparison below is about bytes, because writing what was read gives the same bytes again.
    expect(bodies.every((body) => JSON.stringify(JSON.parse(body)) === body)).toBe(true);
    const requests = bodies.map(readBody);
    const changed = requests.flatMap((request, at) => {
      const before = requests[at - 1];
      if (before === undefined) return [];
      return request.messages.startsWith(before.messages) && request.tools === before.tools ? [] : [at];
    });
    // Only the second of two failed rounds in a row is surgery.
    const surgery = requests.findIndex(({ told }) => told.includes('These calls failed and are over'));
    expect(changed).toEqual([surgery]);
    console.log(`${requests.length} requests, ${requests.length - 1 - changed.length} start with the one before`);

    // The model is not told about its own rate limits.
    expect(bodies.filter((body) => /429|rate.?limit|planner/i.test(body))).toEqual([]);
  },
);
