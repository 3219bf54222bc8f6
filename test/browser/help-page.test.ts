/** The page "Does it help?" in a real browser: figures of real runs, and a person who calls a decision of a guard wrong. */
import { Client } from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { defineAgent } from '../../src/define/define-agent.ts';
import { defineTool } from '../../src/define/define-tool.ts';
import { scriptedPlanner } from '../../src/testing.ts';
import { type DashboardWorld, expectQuiet, openDashboard } from './support/dashboard-world.ts';

const look = defineTool({
  name: 'look',
  effect: 'read',
  input: z.strictObject({ at: z.string() }),
  output: z.json(),
  run: ({ at }, ctx) => {
    ctx.used({ costMicroUsd: 1_000 });
    return { at };
  },
});
/** Makes the same call again and again. */
const stuck = defineAgent({
  name: 'stuck',
  tools: [look],
  planner: scriptedPlanner(() => ({ calls: [{ tool: 'look', input: { at: 'the queue' } }] })),
  policy: { humans: { max_questions: 0 } },
});
const plan = { steps: [{ phase: 'look', tool: 'look', input: { at: 'the shelf' } }] };
const steady = defineAgent({ name: 'steady', tools: [look], plan });

let world: DashboardWorld;
beforeAll(async () => {
  world = await openDashboard([stuck, steady]);
  for (const agent of ['stuck', 'steady', 'steady', 'steady']) {
    const run_id = world.newRunId(agent);
    await world.runs.start({ agent, goal: 'look', run_id });
    await world.runs.result(run_id);
  }
});
afterAll(() => world.close());

describe('does it help?', () => {
  it('the page shows how runs end, what was avoided and what was wasted, for all agents or for one', async () => {
    const opened = await world.open('/help');
    const { page } = opened;
    const tile = (name: string) => page.locator('.tile').filter({ hasText: name });
    await tile('Completed').getByText('75.0 %').waitFor();
    await tile('Completed').getByText('3 of 4 runs; 1 ended in another way').waitFor();
    expect(await tile('Repeats avoided').textContent()).toMatch(/Repeats avoided[1-9]\d* ?repeated/);
    expect(await tile('Waste').textContent()).toMatch(/\d+ attempts?, .* and \$0\.00\d+ after the last progress/);
    await page.getByRole('img', { name: /^Loop rate, .*: 25\.0 % over the last 30 days/ }).waitFor();
    await page.getByRole('img', { name: /^Outcomes of 4 runs that ended: 3 completed, 1 / }).waitFor();
    await page.getByRole('img', { name: /^Evidence coverage: nothing to measure/ }).waitFor();
    await page.getByRole('img', { name: /^Cost per step, .*: \$0\.00\d+ over/ }).waitFor();

    await page.getByLabel('Agent', { exact: true }).selectOption('steady');
    await tile('Completed').getByText('100 %').waitFor();
    await page.getByRole('img', { name: /^Loop rate, .*: 0 % over/ }).waitFor();
    await page.getByLabel('Time', { exact: true }).selectOption('24h');
    await page.getByRole('img', { name: /^Loop rate, .*: 0 % over the last 24 hours/ }).waitFor();
    await page.reload();
    await page.getByRole('img', { name: /^Loop rate, .*: 0 % over the last 24 hours/ }).waitFor();
    expect(await page.getByLabel('Agent', { exact: true }).inputValue()).toBe('steady');
    expectQuiet(opened);
  });

  it('a person calls a decision wrong: it is kept with name and reason, and the false-alarm rate follows', async () => {
    const opened = await world.open('/help');
    const { page } = opened;
    const alarms = page.locator('.tile').filter({ hasText: 'False alarms' });
    await alarms.getByText('0 of 2 decisions called wrong; 0 judged').waitFor();
    const card = page.getByRole('listitem').filter({ hasText: 'same_call_same_outcome' }).first();
    await card.getByRole('button', { name: 'This was wrong' }).click();
    await page.getByLabel('Your name, for the audit').fill('ann');
    await page.getByLabel('Reason (optional)').fill('<b>it waits</b> for the queue');
    await page.getByRole('button', { name: 'Yes, it was wrong' }).click();
    await card.getByText('Called wrong by ann, now: <b>it waits</b> for the queue').waitFor();
    await alarms.getByText('50.0 %').waitFor();
    await page.reload();
    await card.getByText(/Called wrong by ann/).waitFor();
    await alarms.getByText('1 of 2 decisions called wrong; 1 judged').waitFor();

    await card.getByRole('button', { name: 'It was right after all' }).click();
    await page.getByRole('button', { name: 'Yes, it was right' }).click();
    await card.getByText(/Called right by ann/).waitFor();
    await alarms.getByText('0 of 2 decisions called wrong; 1 judged').waitFor();
    expectQuiet(opened);
    // Nothing is changed afterwards: both verdicts are kept.
    const database = new Client({ connectionString: world.databaseUrl });
    await database.connect();
    const { rows } = await database.query('select wrong, by from decision_verdicts order by id');
    await database.end();
    expect(rows).toEqual([
      { wrong: true, by: 'ann' },
      { wrong: false, by: 'ann' },
    ]);
  });

  it('a viewer sees everything and can call nothing wrong', async () => {
    const { page } = await world.open('/help', { role: 'viewer' });
    expect(await page.getByRole('button', { name: 'This was wrong' }).first().isDisabled()).toBe(true);
  });

  it('nothing is wider than a phone', async () => {
    const { page } = await world.open('/help', { width: 360, height: 740 });
    await page.getByRole('img', { name: /^Loop rate/ }).waitFor();
    expect(await page.evaluate<number>('document.documentElement.scrollWidth')).toBeLessThanOrEqual(360);
  });

  it('the page shows success at the first attempt, after one retry and in the end', async () => {
    const attempt = (ok: boolean) => ({
      ok,
      category: ok ? null : ('validation_grounding' as const),
      wait_ms: 0,
      duration_ms: 500,
      cost_micro_usd: 100,
      prompt_diff: null,
    });
    const rows = Array.from({ length: 20 }, (_, index) => ({
      run_id: 'measured',
      step_id: index,
      agent: 'measured',
      model: 'm-1',
      subject: `subject ${index}`,
      attempts: index < 10 ? [attempt(true)] : [attempt(false), attempt(index < 16)],
      created_at: new Date().toISOString(),
    }));
    await world.store.retryMonitors.append(rows);
    const opened = await world.open('/help');
    const card = opened.page.getByRole('region', { name: 'Agent measured' });
    await card.getByRole('strong').filter({ hasText: '50.0 %' }).waitFor();
    expect(await card.getByRole('strong').filter({ hasText: '80.0 %' }).count()).toBe(2);
    await card.getByText(/6 recovered \(60.0 % of those that failed first\)/).waitFor();
    expectQuiet(opened);
  });
});
