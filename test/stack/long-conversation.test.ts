/**
 * One long conversation on a real Temporal and a real Postgres, with a scripted model behind a real socket. Proves nothing
 * about what any real model would say. Slow, so it runs with `npm run test:slow`.
 */
import type { WorkflowHandle } from '@temporalio/client';
import { Worker } from '@temporalio/worker';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { z } from 'zod';
import { createDataConverter } from '../../src/client/data-converter.ts';
import { fetchHistory } from '../../src/client/history/read-history.ts';
import { workflowIdOfRun } from '../../src/protocol/ids.ts';
import { defineAgent } from '../../src/define/define-agent.ts';
import { defineTool } from '../../src/define/define-tool.ts';
import { scriptedModel, type ScriptedServer, serveScriptedModel, type ScriptedTurn } from '../../src/testing.ts';
import { openRunWorld, type RunWorld } from '../support/run-world.ts';
import { workflowBundlePath } from '../support/stack.ts';

type History = Awaited<ReturnType<WorkflowHandle['fetchHistory']>>;

const CALLS = 100;
const PAGE_BYTES = 8_000;

/** Just small enough to travel in history, so this is the most that a page can weigh there. */
const readPage = defineTool({
  name: 'read_page',
  description: 'reads one page of the book',
  effect: 'read',
  input: z.object({ page: z.int() }),
  output: z.object({ text: z.string() }),
  run: ({ page }) => ({ text: `page ${page}: ${'lorem ipsum '.repeat(PAGE_BYTES / 12)}`.slice(0, PAGE_BYTES) }),
});

const reads = (page: number): ScriptedTurn => ({ calls: [{ tool: 'read_page', input: { page } }] });
const bookScript = ({ index }: { index: number }): ScriptedTurn =>
  index < CALLS - 1 ? reads(index) : { text: 'I have read it all.' };

const model = scriptedModel(bookScript);
let server: ScriptedServer;
let world: RunWorld;

beforeAll(async () => {
  server = await serveScriptedModel(model);
  const endpoint = { base_url: server.url, api_key: 'none', model: 'scripted' };
  world = await openRunWorld([
    defineAgent({ name: 'book', instructions: 'Work.', model: endpoint, tools: [readPage] }),
  ]);
  await world.startWorker();
});
afterAll(async () => {
  await world.close();
  await server.close();
});

/** Every execution of a run, oldest first: its history and what the server says it weighs. */
async function chainOf(runId: string): Promise<{ history: History; bytes: number }[]> {
  const chain: { history: History; bytes: number }[] = [];
  const [first] = await fetchHistory(world.client, runId);
  let execution = first?.workflowExecutionStartedEventAttributes?.originalExecutionRunId;
  while (execution) {
    const handle = world.client.workflow.getHandle(workflowIdOfRun(runId), execution);
    const history: History = await handle.fetchHistory();
    chain.push({ history, bytes: (await handle.describe()).historySize ?? 0 });
    execution = history.events?.at(-1)?.workflowExecutionContinuedAsNewEventAttributes?.newExecutionRunId;
  }
  return chain;
}

it(
  `a conversation of ${CALLS} model calls and 200k tokens keeps its history below 5 MB, and replays in 5 s`,
  { timeout: 300_000 },
  async () => {
    const run_id = world.newRunId('book');
    const policy = { budget: { max_steps: 200, max_model_calls: 120, max_tokens: 50_000_000 } };
    const { runs } = world.clientWith({ workflow: { hand_over_after_events: 400 } });
    await runs.start({ agent: 'book', goal: 'Read the whole book', run_id, policy });
    const result = await world.runs.result(run_id);
    expect(result).toMatchObject({ outcome: 'completed', used: { steps: CALLS - 1, model_calls: CALLS } });
    expect(result.result?.output).toBe('I have read it all.');

    // The model was really asked with all of it, and the ledger has what the server counted.
    const { requests, inputTokens, outputTokens } = model.counts();
    const last = model.exchanges.at(-1)?.reply;
    const conversation = last?.kind === 'answer' ? last.usage.inputTokens : 0;
    expect(requests).toBe(CALLS);
    expect(conversation).toBeGreaterThan(195_000);
    expect(result.used.tokens).toBe(inputTokens + outputTokens);

    const chain = await chainOf(run_id);
    const bytes = chain.reduce((sum, part) => sum + part.bytes, 0);
    const startedAt = performance.now();
    const cpuBefore = process.cpuUsage();
    const replayed = Worker.runReplayHistories(
      { workflowBundle: { codePath: workflowBundlePath() }, dataConverter: createDataConverter() },
      chain.map(({ history }) => ({ workflowId: workflowIdOfRun(run_id), history })),
    );
    let replays = 0;
    for await (const { error } of replayed) {
      expect(error).toBeUndefined();
      replays += 1;
    }
    const replayMs = performance.now() - startedAt;
    const cpu = process.cpuUsage(cpuBefore);
    // What the replay takes, all threads together; not what other processes of a busy machine take from it.
    const replayCpuMs = (cpu.user + cpu.system) / 1_000;
    console.log(
      `${CALLS} model calls, the last over ${conversation} tokens: ${chain.length} executions, ` +
        `${(bytes / 1e6).toFixed(2)} MB of history, replayed in ${(replayMs / 1000).toFixed(2)} s (${(replayCpuMs / 1000).toFixed(2)} s of work)`,
    );
    expect(chain.length).toBeGreaterThan(1);
    expect(replays).toBe(chain.length);
    expect(bytes).toBeGreaterThan(0);
    expect(bytes).toBeLessThan(5_000_000);
    expect(replayCpuMs).toBeLessThan(5_000);
  },
);
