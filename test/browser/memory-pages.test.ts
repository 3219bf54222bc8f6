/** The pages about all runs together, in a real browser. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { defineAgent } from '../../src/define/define-agent.ts';
import { defineTool } from '../../src/define/define-tool.ts';
import { ToolError } from '../../src/define/tool-error.ts';
import { type DashboardWorld, expectQuiet, openDashboard } from './support/dashboard-world.ts';

/** Fails once per run, with a message whose id and time differ each time. */
const lookUp = defineTool({
  name: 'look_up',
  effect: 'read',
  input: z.strictObject({ id: z.string() }),
  output: z.json(),
  run: ({ id }, { attempt }) => {
    if (attempt > 1) return { id };
    throw new ToolError(`Order ${id} is locked since ${new Date().toISOString()}`, {
      category: 'server_error',
      code: 'LOCKED',
    });
  },
});

let world: DashboardWorld;
const runIds: string[] = [];
beforeAll(async () => {
  world = await openDashboard([defineAgent({ name: 'clerk', tools: [lookUp] })]);
  for (const id of ['2f9c1d52-91a8-4c30-8b1f-0d3c8f3b7a11', '7a1be0f4-22cd-4f0e-9a55-5b8d2e6c9f02']) {
    const run_id = world.newRunId('locked');
    const plan = { steps: [{ phase: 'read', tool: 'look_up', input: { id } }] };
    await world.runs.start({ agent: 'clerk', goal: `read ${id}`, run_id, plan, policy: { retry: { base_ms: 1 } } });
    await world.runs.result(run_id);
    runIds.push(run_id);
  }
});
afterAll(() => world.close());

describe('known failures', () => {
  it('two runs with the same failure have one row, and the samples show why they are the same', async () => {
    const opened = await world.open('/failures');
    const { page } = opened;
    const row = page.getByRole('listitem').filter({ hasText: 'look_up · LOCKED' });
    await row.waitFor();
    expect(await row.count()).toBe(1);
    expect(await row.textContent()).toMatch(/2failures2runs/);
    await row.getByRole('img', { name: '2 in the last 14 days, 2 on the worst day' }).waitFor();
    await row.getByRole('button').click();
    const samples = page.getByRole('region', { name: 'Samples' });
    for (const runId of runIds) await samples.getByRole('link', { name: runId }).waitFor();
    const ignored = await samples.getByTitle('The fingerprint ignores this part').allTextContents();
    expect(ignored).toContain('2f9c1d52-91a8-4c30-8b1f-0d3c8f3b7a11');
    expect(ignored.length).toBeGreaterThanOrEqual(4);
    await page.reload();
    await page.getByRole('region', { name: 'Samples' }).waitFor();
    expectQuiet(opened);
  });
});

describe('the search of known failures', () => {
  it('asks the server, for beginnings of words too, and says if nothing is found', async () => {
    const opened = await world.open('/failures');
    const { page } = opened;
    const row = page.getByRole('listitem').filter({ hasText: 'look_up · LOCKED' });
    await row.waitFor();
    const search = page.getByLabel('Search failures');
    await search.fill('submarine cable');
    await page.getByRole('heading', { name: 'No such failure' }).waitFor();
    expect(await row.count()).toBe(0);
    // Another order, and one word is not finished.
    await search.fill('locked ord');
    await row.waitFor();
    expectQuiet(opened);
  });
});

describe('lessons', () => {
  it('a lesson shows its trial, and is edited, pinned, retired and restored', async () => {
    const { id } = await world.store.reflections.persist({
      scope: 'agent',
      agent: 'clerk',
      error_type: 'tool_error',
      error_signature: '0123456789abcdef',
      content: 'If look_up fails with LOCKED, then what worked was a retry.',
      rationale: 'test',
      tags: [],
      tools: [],
      context: {
        error_signature: '0123456789abcdef',
        original_query: 'q',
        iteration_count: 1,
        quality_improvement: 1,
        reflection_context: 'step 1',
      },
      similarity_threshold: 0.9,
    });
    const opened = await world.open('/lessons');
    const { page } = opened;
    const card = page.getByRole('region', { name: 'Candidates' }).getByRole('listitem').filter({ hasText: 'LOCKED' });
    await card.getByText('No matching run yet.').or(card.getByRole('img')).waitFor();
    const act = async (name: string, confirm: string): Promise<void> => {
      await card.getByRole('button', { name, exact: true }).click();
      await page.getByLabel('Your name, for the audit').fill('ann');
      if (name === 'Edit') await page.getByLabel('Text').fill('If look_up fails with LOCKED, then wait a minute.');
      await page.getByRole('dialog').getByRole('button', { name: confirm }).click();
      await page.getByRole('dialog').waitFor({ state: 'detached' });
    };
    await page.getByLabel('Search lessons').fill('moon landing');
    await page.getByRole('heading', { name: 'No such lesson' }).waitFor();
    await page.getByLabel('Search lessons').fill('If look_up fails with LOC');
    await card.getByText('No matching run yet.').or(card.getByRole('img')).waitFor();
    await page.getByLabel('Search lessons').fill('');
    await act('Edit', 'Save');
    await card.getByText('then wait a minute.').waitFor();
    await act('Pin', 'Pin');
    await card.getByRole('button', { name: 'Unpin' }).waitFor();
    await act('Retire', 'Retire');
    await page.getByLabel('Which lessons').selectOption('retired');
    const retired = page.getByRole('region', { name: 'Retired' }).getByRole('listitem').filter({ hasText: 'LOCKED' });
    await retired.getByRole('button', { name: 'Restore' }).waitFor();
    await page.reload();
    await retired.getByRole('button', { name: 'Restore' }).waitFor();
    await world.store.reflections.recordUses([
      { use_id: `${runIds[0]}:1`, reflection_id: id, run_id: runIds[0] ?? '', succeeded: true },
    ]);
    await page.goto(`${world.served.url}/ui/lessons?lesson=${id}`);
    await page
      .getByRole('region', { name: `Lesson ${id}` })
      .getByRole('button', { name: 'Restore' })
      .click();
    await page.getByRole('dialog').getByRole('button', { name: 'Restore' }).click();
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await page.goto(`${world.served.url}/ui/lessons`);
    await card.getByRole('button', { name: 'Retire' }).waitFor();
    await card.getByRole('button', { name: 'Evidence' }).click();
    await card.getByText(/restore by ann/).waitFor();
    await card.getByRole('region', { name: 'Runs that saw it' }).getByRole('link', { name: runIds[0] }).waitFor();
    expect(await world.store.reflections.get(id)).toMatchObject({ pinned: true, retired: false });
    expectQuiet(opened);
  });
});
