/** What a model is told, and what it is not told: only what it can act on, and earlier messages never change. */
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { defineAgent } from '../../../src/define/define-agent.ts';
import { defineTool } from '../../../src/define/define-tool.ts';
import type { CallFailed } from '../../../src/protocol/tools.ts';
import { scriptedModel, type Script } from '../../../src/testing.ts';
import { liveThinking } from '../../support/thinking.ts';

const read = defineTool({
  name: 'read',
  effect: 'read',
  input: z.object({ page: z.int() }),
  output: z.json(),
  run: ({ page }) => ({ zebra: page, apple: { y: 1, 10: 'ten', 9: 'nine', b: [{ d: 1, c: 2 }] }, Mango: null }),
});
const tear = defineTool({
  name: 'tear',
  effect: 'read',
  input: z.object({ page: z.int() }),
  output: z.json(),
  run: () => {
    throw Object.assign(new Error('torn'), { category: 'invalid_input', code: 'TORN' });
  },
});

async function think(script: Script, world: Parameters<typeof liveThinking>[2] = {}) {
  const model = scriptedModel(script);
  const agent = defineAgent({ name: 'reader', instructions: 'Read.', model, tools: [read, tear] });
  const { result, views } = await liveThinking([agent], {}, world);
  const sent = model.exchanges.map(({ request }) => JSON.stringify(request.messages));
  return { result, views, sent, last: sent.at(-1) ?? '' };
}
const calls = (tool: string, page = 1) => ({ calls: [{ tool, input: { page } }] });

describe('a model', () => {
  it.each(['rate_limit', 'server_error', 'cut_stream', 'bad_json'] as const)(
    'is not told about the fault %s of its own endpoint, in the same turn or later',
    async (fault) => {
      const { result, views, sent } = await think([{ fault }, calls('read'), { fault }, { text: 'done' }]);
      expect(result).toMatchObject({ outcome: 'completed' });
      expect(sent).toHaveLength(4);
      expect(views.map(({ guidance }) => guidance.text)).toEqual(['', '', '', '']);
      expect([sent[1], sent[3]]).toEqual([sent[0], sent[2]]);
    },
  );

  it('is still told about the failed tool while its own endpoint is limited', async () => {
    const { views } = await think([calls('tear'), { fault: 'rate_limit' }, { text: 'done' }]);
    expect(views[1]?.guidance.text).toContain('tear');
    expect(views[2]?.guidance.text).toBe(views[1]?.guidance.text);
  });

  it('is told about its own answer, as its answer, because it can correct it', async () => {
    const { last } = await think([{ fault: 'invented_tool' }, { text: 'done' }]);
    expect(last).toContain('your answer');
    expect(last).not.toContain('planner');
  });

  it('is not told which part of the infrastructure a tool has lost', async () => {
    const lost: CallFailed = {
      class: 'failed',
      certainty: 'unknown',
      origin: 'infrastructure',
      category: 'worker_lost',
      error_code: 'HEARTBEAT_LOST',
      message_preview: 'the worker stopped answering',
      duration_ms: 1,
    };
    const { sent } = await think([calls('read'), { text: 'done' }, { text: 'done' }], { call: async () => lost });
    expect(sent[1]).toContain('the tool is not available at the moment');
    // The review of the pass gives its reasons to the next pass.
    expect(sent[2]).toContain('the tool is not available at the moment');
    expect(sent.join()).not.toMatch(/HEARTBEAT|worker/);
  });

  it('gets earlier messages byte for byte as before, whatever the order of the keys in an output', async () => {
    const { sent } = await think([calls('read', 1), calls('read', 2), calls('read', 3), { text: 'done' }]);
    expect(sent).toHaveLength(4);
    for (const [at, request] of sent.slice(1).entries()) {
      expect(request.startsWith(sent[at]?.slice(0, -1) ?? '?')).toBe(true);
    }
  });
});
