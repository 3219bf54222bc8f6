/**
 * The metrics of runs and the decisions of guards: real runs with known ends, read from /v1/monitors, /metrics, the typed client and the
 * command line. Needs the shared stack. A second database has rows of known times, for the buckets.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { serveApi, type ServedApi } from '../../src/api/serve.ts';
import { createClient, defineAgent, defineTool, type HttpClient, type RunMetrics, ToolError } from '../../src/index.ts';
import { scriptedPlanner } from '../../src/testing.ts';
import { type ApiWorld, openApiWorld, tokenOf } from '../support/api-world.ts';
import { judgedAgent } from '../support/api-agents.ts';
import { runCommand } from './cli-process.ts';
import { openTestStore, type StoreUnderTest } from './store-fixtures.ts';

/** Costs 100 micro-USD for each attempt, and fails in the first `fails` attempts. */
const work = defineTool({
  name: 'work',
  effect: 'read',
  input: z.strictObject({ fails: z.int(), part: z.string() }),
  output: z.json(),
  run: ({ fails, part }, ctx) => {
    ctx.used({ costMicroUsd: 100 });
    if (ctx.attempt <= fails) throw new ToolError('the service is down', { category: 'unknown_error', code: 'DOWN' });
    return { part };
  },
});
const launch = defineTool({
  name: 'launch',
  effect: 'idempotent',
  approval: true,
  input: z.json(),
  output: z.json(),
  run: () => 'launched',
});
const search = defineTool({
  name: 'search',
  effect: 'read',
  kind: 'retrieval',
  input: z.strictObject({ query: z.string() }),
  output: z.json(),
  run: ({ query }) => (query === 'known' ? [{ id: 'chunk-1', score: 0.9 }] : []),
});
const step = (tool: string, input: object) => ({ phase: 'work', tool, input: input as never });
const quick = { retry: { base_ms: 1, max_wait_ms: 2 }, reruns: { max_reruns: 0 } };
const silent = { ...quick, humans: { max_questions: 0 } };

const metered = defineAgent({ name: 'metered', tools: [work, launch, search], policy: quick });
const reader = defineAgent({ name: 'reader', tools: [search], policy: silent });
/** Makes one useful call and then the same call again and again. */
const stuck = defineAgent({
  name: 'stuck',
  tools: [work],
  planner: scriptedPlanner(({ turn }) => ({
    calls: [{ tool: 'work', input: { fails: 0, part: turn === 1 ? 'new' : 'same' } }],
  })),
  policy: silent,
});

let world: ApiWorld;
let served: ServedApi;
let client: HttpClient;
beforeAll(async () => {
  world = await openApiWorld([metered, reader, stuck, judgedAgent]);
  await world.startWorker();
  served = await serveApi(world.app, { host: '127.0.0.1', port: 0 });
  client = createClient({ url: served.url, token: tokenOf('operator') });
});
afterAll(async () => {
  await served.close();
  await world.close();
});

async function live(agent: string, request: object = {}, answer?: string): Promise<string> {
  const run_id = world.newRunId(agent);
  await client.runs.start({ agent, goal: 'measure it', run_id, ...request });
  for await (const event of client.runs.watch(run_id)) {
    if (event.event === 'question_asked' && answer !== undefined)
      await client.runs.answer(run_id, { question_id: event.question_id, decision: answer as 'stop', by: 'ann' });
  }
  return run_id;
}
const metricsOf = async (agent: string): Promise<RunMetrics> => {
  const { metrics } = await client.monitors.read({ agent });
  expect(metrics.overall).toHaveLength(1);
  return metrics.overall[0] as RunMetrics;
};
const cli = (...args: string[]) =>
  runCommand([...args, '--url', served.url], { SECONDWIND_TOKEN: tokenOf('operator') });

describe('the metrics of runs', () => {
  it('count outcomes, repeats, cost, escalations and waste as the runs lived them', { timeout: 60_000 }, async () => {
    const good = [step('work', { fails: 0, part: 'a' }), step('work', { fails: 0, part: 'b' })];
    const hopeless = [step('work', { fails: 0, part: 'a' }), step('work', { fails: 9, part: 'b' })];
    const once = { ...quick, retry: { ...quick.retry, unknown_error: 2 } };
    await Promise.all([
      live('metered', { plan: { steps: good } }),
      live('metered', { plan: { steps: [step('work', { fails: 2, part: 'c' })] } }),
      // Three attempts without a person to ask: the run ends, and the three were in vain.
      live('metered', { plan: { steps: hopeless }, policy: { ...once, ...silent } }),
      // A person stops the run after the same three attempts. That is an escalation; an approval is not.
      live('metered', { plan: { steps: hopeless }, policy: once }, 'stop'),
      live('metered', { plan: { steps: [step('launch', {})] } }, 'approve'),
    ]);
    const row = await metricsOf('metered');
    expect(row).toMatchObject({
      agent: 'metered',
      runs: 5,
      outcomes: { completed: 3, finalized: 2, system_error: 0, budget_exhausted: 0, cancelled: 0 },
      loop_rate: 0,
      // Each of three runs recorded one failure two or three times.
      repeated_failures: 1 + 2 + 2,
      repeated_failures_per_run: 1,
      evidence_coverage: null,
      steps: 2 + 1 + 2 + 2 + 1,
      attempts: 2 + 3 + 4 + 4 + 1,
      cost_per_step_micro_usd: ((2 + 3 + 4 + 4) * 100) / 8,
      escalations: { ask_human: 1, system_error: 0 },
      escalations_per_run: 1 / 5,
      waste: { attempts: 6, cost_micro_usd: 600, share_of_attempts: 6 / 14 },
      guard: { decisions: 0, false_alarm_rate: null },
    });
    expect(row.seconds_per_step).toBeGreaterThan(0);
    expect(row.waste.seconds).toBeGreaterThan(0);
    const series = (await client.monitors.read({ agent: 'metered', bucket: 'hour' })).metrics.series;
    expect(series.reduce((sum, { runs }) => sum + runs, 0)).toBe(5);
    expect(series[0]?.from).toMatch(/^\d{4}-\d\d-\d\dT\d\d:00:00Z$/);

    const text = await (await world.fetch('/metrics')).text();
    expect(text).toContain('secondwind_runs_ended{agent="metered",outcome="finalized"} 2\n');
    expect(text).toContain('secondwind_repeated_failures_per_run{agent="metered"} 1\n');
    expect(text).toContain('secondwind_waste_cost_micro_usd{agent="metered"} 600\n');
    expect(text).not.toContain('secondwind_evidence_coverage{agent="metered"}');

    const table = (await cli('monitors', '--agent', 'metered')).stdout;
    expect(table).toMatch(/^AGENT +RUNS +COMPLETED .*\nmetered +5 +3 +0\.0 % +1\.00 +- .* 42\.9 % +-$/m);
    const told = JSON.parse(
      (await cli('monitors', '--agent', 'metered', '--bucket', 'hour', '--json')).stdout,
    ) as object;
    expect(told).toMatchObject({ metrics: { bucket: 'hour', overall: [{ runs: 5 }] } });
    expect((await world.ask('GET', '/v1/monitors?bucket=week')).status).toBe(422);
  });

  it('know which retrievals brought evidence', async () => {
    const steps = [step('search', { query: 'known' }), step('search', { query: 'unknown' })];
    await Promise.all([live('reader', { plan: { steps } }), live('reader', { plan: { steps: steps.slice(0, 1) } })]);
    expect(await metricsOf('reader')).toMatchObject({ runs: 2, retrievals: 3, evidence_coverage: 2 / 3 });
  });
});

describe('the decisions of guards', () => {
  it('are listed with their rule, and a person who calls one wrong changes the false-alarm rate', async () => {
    const run_id = await live('stuck');
    const row = await metricsOf('stuck');
    expect(row).toMatchObject({ runs: 1, loop_rate: 1, guard: { judged: 0, wrong: 0, false_alarm_rate: 0 } });
    expect(row.held_calls).toBeGreaterThan(0);
    // Progress ended with the second call, the first of the repeated ones.
    expect(row.waste.attempts).toBe(row.attempts - 2);
    const { decisions } = await client.monitors.decisions({ run_id });
    expect(decisions.map(({ kind, rule, action }) => ({ kind, rule, action })).toReversed()).toEqual([
      { kind: 'stall', rule: 'same_call_same_outcome', action: 'guide' },
      { kind: 'escalation', rule: 'same_call_same_outcome', action: 'ask_human' },
    ]);
    const [latest] = decisions;
    expect(latest).toMatchObject({ run_id, agent: 'stuck', verdict: null });

    const judged = { run_id, decision_id: latest?.decision_id ?? '' };
    await client.monitors.judge(judged, { wrong: true, by: 'ann', reason: 'it polled a queue' });
    expect((await metricsOf('stuck')).guard).toEqual({ decisions: 2, judged: 1, wrong: 1, false_alarm_rate: 0.5 });
    const again = (await client.monitors.decisions({ agent: 'stuck' })).decisions[0];
    expect(again?.verdict).toMatchObject({ wrong: true, by: 'ann', reason: 'it polled a queue' });
    const text = await (await world.fetch('/metrics')).text();
    expect(text).toContain('secondwind_guard_false_alarm_rate{agent="stuck"} 0.5\n');
    expect((await cli('monitors', '--agent', 'stuck')).stdout).toContain('1 of 2');

    await client.monitors.judge(judged, { wrong: false, by: 'bob' });
    expect((await metricsOf('stuck')).guard).toMatchObject({ judged: 1, wrong: 0, false_alarm_rate: 0 });
    const path = `/v1/runs/${run_id}/decisions/none/verdict`;
    const body = { wrong: true, by: 'ann' };
    expect(await world.ask('POST', path, { body })).toMatchObject({
      status: 404,
      body: { type: 'urn:secondwind:problem:decision_not_found' },
    });
    expect((await world.ask('POST', path, { body, role: 'reporter' })).status).toBe(403);
    expect((await world.ask('POST', path, { body: { wrong: 'yes', by: 'ann' } })).status).toBe(422);
  });

  it('include the guardrail that ends a run, which has gained nothing since its best pass', async () => {
    const run_id = await live('judged', { goal: 'never good' });
    const { decisions } = await client.monitors.decisions({ run_id });
    expect(decisions).toMatchObject([{ kind: 'guardrail', action: 'finalize', agent: 'judged', step_id: null }]);
    const row = await metricsOf('judged');
    expect(row.outcomes).toMatchObject({ finalized: 1 });
    // Every pass is one attempt, and no pass after the first was better.
    expect(row.waste.attempts).toBe(row.attempts - 1);
  });
});

describe('the metrics over time', () => {
  const DAY = Date.UTC(2026, 2, 1);
  const figures = {
    work_ms: 2_000,
    cost_micro_usd: 40,
    escalations: 0,
    held_calls: 1,
    retrievals: 0,
    with_evidence: 0,
    waste: { attempts: 0, ms: 0, cost_micro_usd: 0 },
  };
  const used = { steps: 4, attempts: 5 };

  it('are cut into hours and days of UTC, and an old start cannot ask for endless buckets', async () => {
    const { store }: StoreUnderTest = await openTestStore();
    const put = (run_id: string, at: number, outcome: 'completed' | 'system_error' = 'completed') =>
      store.runMetrics.put({ run_id, agent: 'timed', outcome, ended_at: new Date(at).toISOString(), used, figures });
    const now = Date.now();
    const today = now - (now % 86_400_000);
    await put('old', DAY);
    await put('yesterday', today - 1);
    await put('midnight', today, 'system_error');
    await put('midnight', today, 'completed');
    const since = new Date(0).toISOString();
    const days = await store.runMetrics.read({ since, bucket: 'day' });
    const dayOf = (at: number): string => `${new Date(at).toISOString().slice(0, 10)}T00:00:00Z`;
    expect(days.overall).toMatchObject([{ agent: 'timed', runs: 3, outcomes: { completed: 2, system_error: 1 } }]);
    expect(days.series.map(({ from, runs }) => [from, runs])).toEqual([
      [dayOf(today), 1],
      [dayOf(today - 1), 1],
      ...(now - DAY < 400 * 86_400_000 ? [[dayOf(DAY), 1]] : []),
    ]);
    expect(days.series[0]).toMatchObject({
      seconds_per_step: 0.5,
      cost_per_step_micro_usd: 10,
      escalations_per_run: 1,
      held_calls: 1,
    });
    const hours = await store.runMetrics.read({ since, bucket: 'hour', agent: 'timed' });
    expect(hours.series.map(({ from }) => from)).toEqual([
      dayOf(today),
      `${new Date(today - 1).toISOString().slice(0, 13)}:00:00Z`,
    ]);
    expect((await store.runMetrics.read({ since, agent: 'nobody' })).overall).toEqual([]);
    expect((await store.runMetrics.read({ since: new Date(today).toISOString() })).overall).toMatchObject([
      { runs: 1 },
    ]);
  });

  it('estimate the repeats that lessons avoided from the runs that did not see them', async () => {
    const { store, query }: StoreUnderTest = await openTestStore();
    await query(`insert into reflections (scope, agent, error_type, error_signature, content, rationale, tags, tools, context)
      values ('agent', 'taught', 'tool_error', '0123456789abcdef', 'Use pages of 50.', 'why', '{}', '{}', '{}')`);
    for (let index = 0; index < 10; index += 1) {
      const run_id = `trial-${index}`;
      await store.runMetrics.put({
        run_id,
        agent: 'taught',
        outcome: 'completed',
        ended_at: new Date().toISOString(),
        used,
        figures,
      });
      // Of eight that saw it one failed again; of two that did not, both did.
      const shown = index < 8;
      await query(
        `insert into reflection_trials (reflection_id, run_id, phase, shown, share_shown, first_ok, attempts, same_again)
         select id, $1, '0', $2, 0.8, true, 1, $3 from reflections`,
        [run_id, shown, index === 0 || !shown],
      );
    }
    const { lessons } = await store.runMetrics.read({ since: new Date(0).toISOString() });
    expect(lessons).toMatchObject([
      { agent: 'taught', shown: 8, shown_same_again: 1, withheld: 2, withheld_same_again: 2 },
    ]);
    // Each withheld run stands for four that saw the lesson: eight repeats expected, one seen.
    expect(lessons[0]?.repeats_avoided).toBeCloseTo(7, 9);
  });
});
