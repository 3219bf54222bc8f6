/**
 * Agents that think, on a real Temporal and a real Postgres, with a scripted model behind a real socket. Proves nothing
 * about what any real model would say.
 */
import type { WorkflowHandle } from '@temporalio/client';
import { Worker } from '@temporalio/worker';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { fetchHistory } from '../../src/client/history/read-history.ts';
import { defineAgent } from '../../src/define/define-agent.ts';
import { defineTool } from '../../src/define/define-tool.ts';
import { ToolError } from '../../src/define/tool-error.ts';
import { scriptedModel, type ScriptedServer, serveScriptedModel, type ScriptedTurn } from '../../src/testing.ts';
import { createDataConverter } from '../../src/client/data-converter.ts';
import { eventually } from '../support/eventually.ts';
import { openRunWorld, type RunWorld } from '../support/run-world.ts';
import { workflowBundlePath } from '../support/stack.ts';
import { workflowIdOfRun } from '../../src/protocol/ids.ts';

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

let refusals = 0;
const fetchStock = defineTool({
  name: 'fetch_stock',
  effect: 'read',
  input: z.object({ item: z.string() }),
  output: z.object({ left: z.int() }),
  run: () => {
    refusals += 1;
    if (refusals <= 2) throw new ToolError('the shop answered 503', { category: 'server_error' });
    return { left: 7 };
  },
});

const reads = (page: number): ScriptedTurn => ({ calls: [{ tool: 'read_page', input: { page } }] });
const bookScript = ({ index }: { index: number }): ScriptedTurn =>
  index < CALLS - 1 ? reads(index) : { text: 'I have read it all.' };

const models = {
  book: scriptedModel(bookScript),
  wrong: scriptedModel([
    { fault: 'wrong_arguments', tool: 'read_page' },
    { calls: [{ tool: 'read_page', input: { page: 1 } }] },
    { text: 'Lorem ipsum.' },
  ]),
  silent: scriptedModel([{ fault: 'hang' }]),
  busy: scriptedModel([{ calls: [{ tool: 'fetch_stock', input: { item: 'bolt' } }] }, { text: '7' }]),
};
const servers: ScriptedServer[] = [];
let world: RunWorld;

beforeAll(async () => {
  const agents = await Promise.all(
    Object.entries(models).map(async ([name, model]) => {
      const server = await serveScriptedModel(model);
      servers.push(server);
      const endpoint = { base_url: server.url, api_key: 'none', model: 'scripted' };
      return defineAgent({ name, instructions: 'Work.', model: endpoint, tools: [readPage, fetchStock] });
    }),
  );
  world = await openRunWorld(agents);
  await world.startWorker();
});
afterAll(async () => {
  await world.close();
  for (const server of servers) await server.close();
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

const toolActivities = async (runId: string): Promise<string[]> =>
  (await fetchHistory(world.client, runId)).flatMap((event) => {
    const name = event.activityTaskScheduledEventAttributes?.activityType?.name ?? '';
    return name.startsWith('tool.') ? [name] : [];
  });

describe('a long conversation', () => {
  it(
    `of ${CALLS} model calls and 200k tokens keeps its history below 5 MB, and replays in 5 s`,
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
      const { requests, inputTokens, outputTokens } = models.book.counts();
      const last = models.book.exchanges.at(-1)?.reply;
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
});

describe('what goes wrong with a call', () => {
  it('is the model’s to mend when its arguments are wrong: one attempt, one more question', async () => {
    const run_id = world.newRunId('wrong');
    await world.runs.start({ agent: 'wrong', goal: 'What does page 1 say?', run_id });
    expect(await world.runs.result(run_id)).toMatchObject({ outcome: 'completed', used: { model_calls: 3 } });
    const steps = await world.runs.steps(run_id);
    expect(steps.map(({ tool, attempts }) => [tool, attempts.map(({ outcome }) => outcome)])).toEqual([
      ['read_page', ['failed']],
      ['read_page', ['ok']],
    ]);
    expect(await toolActivities(run_id)).toHaveLength(2);
    // The question that follows says what was wrong; the next one has moved on.
    const asked = models.wrong.exchanges.map(({ request }) => JSON.stringify(request.messages));
    expect(asked.map((text) => text.includes('INVALID_INPUT'))).toEqual([false, true, true]);
  });

  it('is the run’s to retry when the service is busy: three attempts, and the model hears nothing of it', async () => {
    const run_id = world.newRunId('busy');
    await world.runs.start({ agent: 'busy', goal: 'How many bolts?', run_id, policy: { retry: { base_ms: 20 } } });
    const { outcome, used } = await world.runs.result(run_id);
    expect({ outcome, attempts: used.attempts, model_calls: used.model_calls }).toEqual({
      outcome: 'completed',
      attempts: 3,
      model_calls: 2,
    });
    expect(await toolActivities(run_id)).toEqual(Array(3).fill('tool.fetch_stock'));
    expect(models.busy.counts().requests).toBe(2);
    expect(JSON.stringify(models.busy.exchanges[1]?.request.messages)).not.toContain('503');
  });
});

describe('a turn that is cancelled while the model thinks', () => {
  it('counts as having used what it had reserved, since nobody can tell', async () => {
    const runId = world.newRunId('silent');
    await world.runs.start({ agent: 'silent', goal: 'Say something.', run_id: runId });
    await eventually(
      async () => models.silent.exchanges.length,
      (asked) => asked === 1,
    );
    await world.runs.cancel(runId, { by: 'ada' }, { waitMs: 0 });
    const { outcome, used } = await world.runs.result(runId);
    expect(outcome).toBe('cancelled');
    expect(used.model_calls).toBe(1);
    // The longest answer, and what was asked.
    expect(used.tokens).toBeGreaterThan(4_096);
  });
});
