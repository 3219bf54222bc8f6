/** Answers that break their schema, in whole runs in virtual time: repairing them keeps requests small. */
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { defineAgent } from '../../../src/define/define-agent.ts';
import { defineTool } from '../../../src/define/define-tool.ts';
import { scriptedModel, type ScriptedModel, type ScriptedTurn } from '../../../src/testing.ts';
import { liveThinking } from '../../support/thinking.ts';

const OUTPUT_BYTES = 40 * 1024;
const MOST_GROWTH = 44 * 1024;

const look = defineTool({
  name: 'look',
  effect: 'read',
  input: z.object({ at: z.string() }),
  output: z.json(),
  run: ({ at }) => `${at} is there`,
});

/** 40 KB each, each another one, and hard to carry in JSON. */
const unusable = [
  'no JSON at all, "quoted" \\ and \n broken; ',
  '{"total": "seven", "why": "ünïcödé 🌬️ "} ',
  '[[[[[[[[\u0001\u0002',
].map((text) => text.repeat(Math.ceil(OUTPUT_BYTES / text.length)).slice(0, OUTPUT_BYTES));
const bad = unusable.map((text): ScriptedTurn => ({ text, usage: { inputTokens: 10, outputTokens: 10 } }));

async function live(script: ScriptedTurn[], validation: number): Promise<ScriptedModel> {
  const model = scriptedModel(script);
  const output = z.object({ total: z.number() });
  const agent = defineAgent({ name: 'counter', instructions: 'Count.', model, tools: [look], output });
  const { result } = await liveThinking([agent], { policy: { retry: { validation } } });
  expect(result).toMatchObject({ outcome: 'completed', result: { output: { total: 7 } } });
  return model;
}

const sizes = ({ exchanges }: ScriptedModel): number[] =>
  exchanges.map(({ request }) => Buffer.byteLength(JSON.stringify([request.messages, request.tools])));

describe('three unusable answers of 40 KB in a run', () => {
  it('three unusable answers of 40 KB never make a request more than 44 KB larger', async () => {
    const model = await live([...bad, { json: { total: 7 } }], 3);
    const [base = 0, ...repairs] = sizes(model);
    expect(repairs).toHaveLength(3);
    for (const size of repairs) {
      expect(size).toBeGreaterThan(base);
      expect(size - base).toBeLessThanOrEqual(MOST_GROWTH);
    }
    // Each shows the latest one alone.
    const last = JSON.stringify(model.exchanges.at(-1)?.request.messages);
    expect(last).toContain('[[[[');
    expect(last).not.toContain('no JSON at all');
  });

  it('unusable answers are removed from the conversation once they are repaired', async () => {
    const [first, second, third] = bad as [ScriptedTurn, ScriptedTurn, ScriptedTurn];
    const looks: ScriptedTurn = { calls: [{ tool: 'look', input: { at: 'shelf' } }] };
    const model = await live([first, second, looks, third, { json: { total: 7 } }], 2);
    const [base = 0, , , afterCall = 0, repaired = 0] = sizes(model);
    expect(afterCall - base).toBeLessThan(1_000);
    expect(repaired - afterCall).toBeLessThanOrEqual(MOST_GROWTH);
  });
});
