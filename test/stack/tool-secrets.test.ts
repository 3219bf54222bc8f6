/**
 * What a tool or agent declares as a secret in code is in no record. Encryption protects it in history, see
 * encryption.test.ts. Real Temporal, real Postgres.
 */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { z } from 'zod';
import { defineAgent } from '../../src/define/define-agent.ts';
import { defineTool } from '../../src/define/define-tool.ts';
import { openRunWorld, type RunWorld } from '../support/run-world.ts';

const OF_TOOL = 'tool-word-Zx81-Qq';
const OF_AGENT = 'agent-word-7731-Kk';
const tell = defineTool({
  name: 'tell',
  effect: 'read',
  secrets: [OF_TOOL],
  input: z.object({}),
  output: z.string(),
  run: (_input, { attempt }) => {
    if (attempt === 1) throw new Error(`${OF_TOOL} and ${OF_AGENT} are refused`);
    return `${OF_TOOL} and ${OF_AGENT} are welcome`;
  },
});
const plan = { steps: [{ phase: 'work', tool: 'tell', input: {} }] };

let world: RunWorld;
beforeAll(async () => {
  world = await openRunWorld([defineAgent({ name: 'teller', tools: [tell], plan, secrets: [OF_AGENT] })]);
  await world.startWorker();
}, 120_000);
afterAll(() => world.close());

it(
  'the secrets of tools and agents are in no record, and the output of the run stays exact',
  { timeout: 60_000 },
  async () => {
    const runId = world.newRunId('secrets');
    await world.runs.start({ agent: 'teller', goal: 'tell', run_id: runId });
    const { result } = await world.runs.result(runId);
    expect(result?.output).toBe(`${OF_TOOL} and ${OF_AGENT} are welcome`);
    const records = await world.store.records.forRun(runId);
    expect(records).toHaveLength(1);
    expect(JSON.stringify(records)).toContain('[redacted:known]');
    for (const secret of [OF_TOOL, OF_AGENT]) expect(JSON.stringify(records)).not.toContain(secret);
  },
);
