/**
 * Agents that think, on a real Temporal and a real Postgres, with a scripted model behind a real socket. Proves nothing
 * about what any real model would say.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { fetchHistory } from '../../src/client/history/read-history.ts';
import { defineAgent } from '../../src/define/define-agent.ts';
import { commandTool } from '../../src/define/command/command-tool.ts';
import { defineTool } from '../../src/define/define-tool.ts';
import { ToolError } from '../../src/define/tool-error.ts';
import { scriptedModel, type ScriptedServer, serveScriptedModel } from '../../src/testing.ts';
import { eventually } from '../support/eventually.ts';
import { openRunWorld, type RunWorld } from '../support/run-world.ts';

const readPage = defineTool({
  name: 'read_page',
  description: 'reads one page of the book',
  effect: 'read',
  input: z.object({ page: z.int() }),
  output: z.object({ text: z.string() }),
  run: ({ page }) => ({ text: `page ${page}: lorem ipsum` }),
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

/** A test suite with one failing test in the middle of an output that does not fit. Its durations differ every time. */
const runTests = commandTool({
  name: 'run_tests',
  effect: 'read',
  input: z.object({}),
  shell: () =>
    `i=0; while [ $i -lt 400 ]; do i=$((i+1)); echo "ok $i - case $i works as it should, $(date +%N)ns"; ` +
    `if [ $i = 200 ]; then echo "not ok - sums > adds negative numbers"; echo "  expected -5, got -1"; fi; done; exit 1`,
});

const models = {
  tests: scriptedModel([{ calls: [{ tool: 'run_tests', input: {} }] }, { text: 'adds negative numbers is broken' }]),
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
      return defineAgent({ name, instructions: 'Work.', model: endpoint, tools: [readPage, fetchStock, runTests] });
    }),
  );
  world = await openRunWorld(agents);
  await world.startWorker();
});
afterAll(async () => {
  await world.close();
  for (const server of servers) await server.close();
});

const toolActivities = async (runId: string): Promise<string[]> =>
  (await fetchHistory(world.client, runId)).flatMap((event) => {
    const name = event.activityTaskScheduledEventAttributes?.activityType?.name ?? '';
    return name.startsWith('tool.') ? [name] : [];
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

  it('is the model’s to know when a command fails: the failing test is in its next request', async () => {
    const run_id = world.newRunId('tests');
    const policy = { retry: { base_ms: 20 }, reruns: { max_reruns: 0 } };
    await world.runs.start({ agent: 'tests', goal: 'Do the tests pass?', run_id, policy });
    // Its only step failed, so the review does not call the run completed.
    expect(await world.runs.result(run_id)).toMatchObject({ outcome: 'finalized', used: { attempts: 2 } });
    const [, next] = models.tests.exchanges.map(({ request }) => JSON.stringify(request.messages));
    expect(next).toContain('not ok - sums > adds negative numbers');
    expect(next).toContain('expected -5, got -1');
    // The second attempt failed in the same way, so there is no third one, although the policy allows it.
    const [step] = await world.runs.steps(run_id);
    expect(step?.attempts.map(({ outcome }) => outcome)).toEqual(['failed', 'failed']);
    expect(JSON.stringify(step?.attempts[1]?.output)).toContain('not ok - sums > adds negative numbers');
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
