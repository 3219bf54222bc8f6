/** The page of one run in a real browser: live, with everything that a person can do. */
import { mkdtemp, readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { agentTool } from '../../src/define/agent-tool.ts';
import { defineAgent } from '../../src/define/define-agent.ts';
import { defineTool } from '../../src/define/define-tool.ts';
import { scriptedModel, scriptedPlanner } from '../../src/testing.ts';
import { apiAgents, endlessPlan } from '../support/api-agents.ts';
import { type DashboardWorld, expectQuiet, openDashboard } from './support/dashboard-world.ts';

/** Each call waits until the test lets it go. */
const gates = new Map<string, () => void>();
const gated = defineTool({
  name: 'gated',
  effect: 'read',
  input: z.strictObject({ key: z.string(), query_id: z.string().optional() }),
  output: z.json(),
  timeoutMs: 60_000,
  run: async ({ key }, { attempt }) => {
    await new Promise<void>((resolve) => gates.set(`${key}:${attempt}`, resolve));
    if (attempt === 1) throw new Error('the first one fails');
    return { done: key };
  },
});
const refund = defineTool({
  name: 'refund',
  effect: 'side_effect',
  approval: true,
  input: z.strictObject({ ticket: z.string(), cents: z.int() }),
  output: z.json(),
  run: (input) => input,
});
const look = defineTool({
  name: 'look',
  effect: 'read',
  input: z.strictObject({ at: z.int() }),
  output: z.json(),
  run: (input) => ({ seen: input }),
});
const looker = defineAgent({
  name: 'looker',
  tools: [look],
  planner: scriptedPlanner(({ turn }) =>
    turn === 1 ? { calls: [{ tool: 'look', input: { at: 1 } }] } : { calls: [], output: 'looked' },
  ),
});
const asker = defineAgent({
  name: 'asker',
  tools: [agentTool(looker), gated],
  planner: scriptedPlanner(({ turn, input }) =>
    turn === 1
      ? { calls: [{ tool: 'looker', input: { goal: 'look at it', input: 7 } }] }
      : turn === 2 && input !== null
        ? { calls: [{ tool: 'gated', input: { key: input as string } }] }
        : { calls: [], output: 'asked' },
  ),
});
const model = scriptedModel([
  { calls: [{ tool: 'look', input: { at: 1 } }] },
  { calls: [{ tool: 'look', input: { at: 2 } }] },
  { text: 'done' },
]);
const thinker = defineAgent({ name: 'thinker', instructions: 'Look twice.', model, tools: [look] });
const agents = [
  thinker,
  asker,
  ...apiAgents,
  defineAgent({ name: 'gates', tools: [gated] }),
  defineAgent({
    name: 'refunds',
    tools: [refund],
    plan: { steps: [{ phase: 'pay', tool: 'refund', input: { ticket: 'T-1', cents: 4_500 } }] },
  }),
];

let world: DashboardWorld;
beforeAll(async () => {
  world = await openDashboard(agents);
});
afterAll(() => world.close());

const pathOf = (runId: string): string => `/runs/${encodeURIComponent(runId)}`;
const letGo = async (key: string): Promise<void> => {
  await expect.poll(() => gates.has(key)).toBe(true);
  gates.get(key)?.();
};
const square = (page: Page, name: string | RegExp) =>
  page.getByRole('region', { name: 'Attempts' }).getByRole('button', { name });
const nameIt = (page: Page) => page.getByLabel('Your name, for the audit').fill('ann');

describe('the strip', () => {
  it('an event is visible within a second, and the view survives a reload', async () => {
    const run_id = world.newRunId('live');
    const plan = { steps: [{ phase: 'work', tool: 'gated', input: { key: run_id, query_id: 'q-17' } }] };
    await world.runs.start({ agent: 'gates', goal: 'watch me', run_id, plan, policy: { retry: { base_ms: 1 } } });
    const opened = await world.open(pathOf(run_id));
    const { page } = opened;
    await square(page, 'Attempt 1 of step 1, gated: running.').waitFor();
    const failed = square(page, /Attempt 1 of step 1, gated: failed as A/);
    await letGo(`${run_id}:1`);
    const events = world.runs.watch(run_id);
    for await (const event of events) if (event.event === 'failure_recorded') break;
    const heard = Date.now();
    await failed.waitFor();
    const ms = Date.now() - heard;
    console.log(`an event was visible ${ms} ms after another reader of the stream had it`);
    expect(ms).toBeLessThan(1_000);

    await failed.click();
    await page.getByText('the first one fails').first().waitFor();
    await page.locator('dl.facts dd').getByText('q-17', { exact: true }).waitFor();
    await page.getByRole('tab', { name: 'Failures' }).click();
    await page.reload();
    await page.getByRole('region', { name: 'Failures' }).waitFor();
    await page.getByRole('heading', { name: /Attempt 1 of step 1/ }).waitFor();

    await letGo(`${run_id}:2`);
    await square(page, 'Attempt 2 of step 1, gated: succeeded.').waitFor();
    await page.getByText('completed', { exact: true }).waitFor();
    expect(await page.getByRole('meter', { name: 'attempts' }).getAttribute('aria-valuetext')).toMatch(/^2 of \d+$/);
    expectQuiet(opened);
  });

  it('the exact guidance and the failure record of an attempt are shown', async () => {
    const run_id = world.newRunId('guided');
    await world.runs.start({ agent: 'demo', goal: 'guided', run_id, policy: { retry: { base_ms: 1 } } });
    await world.runs.result(run_id);
    const { guidance } = await world.runs.guidance(run_id, { stepId: 1, attempt: 2 });
    const { page } = await world.open(`${pathOf(run_id)}?step=1&attempt=2`);
    const shown = await page.getByRole('region', { name: 'The guidance' }).textContent();
    expect(shown).toBe(guidance);
    await square(page, /Attempt 1 of step 1/).click();
    await page.getByText(/^fp1:tool_error:demo.flaky/).waitFor();
  });
});

describe('what a person can do', () => {
  it('a run is cancelled with a name and a reason', async () => {
    const run_id = world.newRunId('cancelled');
    await world.runs.start({ agent: 'endless', goal: 'never ends', run_id, plan: endlessPlan() });
    const { page } = await world.open(pathOf(run_id));
    await page.getByRole('button', { name: 'Cancel' }).click();
    await nameIt(page);
    await page.getByLabel('Reason (optional)').fill('enough');
    await page.getByRole('button', { name: 'Cancel the run' }).click();
    await page.getByText('cancelled', { exact: true }).waitFor();
    const events = await world.inspector.events(run_id);
    expect(events.find((event) => event.event === 'decision')).toMatchObject({ by: 'ann', reason: 'enough' });
  });

  it('a run is started again and the page shows the new run', async () => {
    const run_id = world.newRunId('again');
    await world.runs.start({ agent: 'demo', goal: 'do it twice', run_id, policy: { retry: { base_ms: 1 } } });
    await world.runs.result(run_id);
    const { page } = await world.open(pathOf(run_id));
    await page.getByRole('button', { name: 'Rerun' }).click();
    await nameIt(page);
    await page.getByRole('button', { name: 'Start again' }).click();
    await page.waitForURL((url) => !url.pathname.includes(run_id));
    await page.getByRole('heading', { name: 'do it twice' }).waitFor();
    const again = decodeURIComponent(new URL(page.url()).pathname.split('/').at(-1) ?? '');
    expect((await world.runs.result(again)).outcome).toBe('completed');
  });

  it('an override and feedback reach the run', async () => {
    const run_id = world.newRunId('overridden');
    await world.runs.start({ agent: 'endless', goal: 'override me', run_id, plan: endlessPlan() });
    const { page } = await world.open(pathOf(run_id));
    await page.getByRole('button', { name: 'Override' }).click();
    await nameIt(page);
    await page.getByRole('button', { name: 'Permit' }).click();
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await page.getByRole('button', { name: 'Feedback' }).click();
    await page.getByLabel('Feedback', { exact: true }).fill('look at the second page');
    await page.getByRole('button', { name: 'Send' }).click();
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    expect(await world.runs.overrides(run_id)).toMatchObject([{ override_by: 'ann' }]);
    const events = await world.inspector.events(run_id);
    expect(events.find((event) => event.event === 'review')).toMatchObject({ text: 'look at the second page' });
    await world.runs.cancel(run_id, { by: 'the test' });
  });

  it('a question is answered on the page of its run', async () => {
    const run_id = world.newRunId('asked');
    await world.runs.start({ agent: 'refunds', goal: 'refund T-1', run_id });
    const { page } = await world.open(pathOf(run_id));
    await page.getByRole('article', { name: 'Question' }).getByRole('button', { name: 'Approve' }).click();
    await nameIt(page);
    await page.getByRole('button', { name: 'Approve: send' }).click();
    await page.getByText('completed', { exact: true }).waitFor();
    expect((await world.runs.result(run_id)).result?.output).toEqual({ ticket: 'T-1', cents: 4_500 });
  });

  it('a viewer sees the run and cannot act on it', async () => {
    const run_id = world.newRunId('viewed');
    await world.runs.start({ agent: 'refunds', goal: 'refund T-1', run_id });
    const { page } = await world.open(pathOf(run_id), { role: 'viewer' });
    await page.getByText('Your token has the role viewer.').first().waitFor();
    expect(await page.getByRole('button', { name: 'Cancel' }).isDisabled()).toBe(true);
    expect(await page.getByRole('button', { name: 'Approve' }).isDisabled()).toBe(true);
    await world.runs.cancel(run_id, { by: 'the test' });
  });
});

describe('the stream', () => {
  it('a stream that breaks continues without gaps or repetitions', async () => {
    const run_id = world.newRunId('broken');
    const plan = { steps: ['a', 'b'].map((key) => ({ phase: key, tool: 'gated', input: { key: run_id + key } })) };
    await world.runs.start({ agent: 'gates', goal: 'cut me off', run_id, plan, policy: { retry: { base_ms: 1 } } });
    const { page, context } = await world.open(pathOf(run_id));
    await square(page, /Attempt 1 of step 1, gated: running/).waitFor();
    await context.setOffline(true);
    for (const key of [`${run_id}a:1`, `${run_id}a:2`]) await letGo(key);
    await context.setOffline(false);
    await square(page, /Attempt 2 of step 1, gated: succeeded/).waitFor();
    for (const key of [`${run_id}b:1`, `${run_id}b:2`]) await letGo(key);
    await square(page, /Attempt 2 of step 2, gated: succeeded/).waitFor();
    expect(await square(page, /^Attempt \d of step \d/).count()).toBe(4);
  });

  it('a run that does not exist says so', async () => {
    const { page } = await world.open('/runs/nothing-here');
    await page.getByRole('alert').getByText('There is no run nothing-here.').waitFor();
    expect(await page.getByRole('article').count()).toBe(0);
  });
});

describe('share', () => {
  it('the shared file has the run, no script, no address and no secret', async () => {
    const run_id = world.newRunId('shared');
    const output = { note: '<script>alert(1)</script>', key: 'sk-proj-abcdefghijklmnopqrstuvwxyz0123456789ABCDEFGH' };
    const steps = [{ phase: 'work', tool: 'demo.flaky', input: { fail_times: 1, output } }];
    await world.runs.start({
      agent: 'demo',
      goal: 'share me',
      run_id,
      plan: { steps },
      policy: { retry: { base_ms: 1 } },
    });
    await world.runs.result(run_id);
    const opened = await world.open(pathOf(run_id));
    const { page } = opened;
    await square(page, /Attempt 2 of step 1/).waitFor();
    const download = page.waitForEvent('download');
    await page.getByRole('button', { name: 'Share' }).click();
    const file = join(await mkdtemp(join(tmpdir(), 'secondwind-test-share-')), 'run.html');
    await (await download).saveAs(file);
    const html = await readFile(file, 'utf8');
    expect(html).toContain('share me');
    expect(html).toContain('&lt;script&gt;');
    expect(html).not.toMatch(/<script|https?:|src=|href=|sk-proj-abc/);
    expectQuiet(opened);
  });
});

describe('sub-runs', () => {
  it('a run links to the run that does a step, and that one links back', async () => {
    const run_id = world.newRunId('asker');
    await world.runs.start({ agent: 'asker', goal: 'have it looked at', run_id });
    await world.runs.result(run_id);
    const opened = await world.open(pathOf(run_id));
    const { page } = opened;
    const child = `${run_id}.s1.a1`;
    await page.getByRole('region', { name: 'Sub-runs' }).getByRole('link', { name: child }).waitFor();
    await page.getByRole('list', { name: 'Steps to scale' }).getByRole('link', { name: '1 looker ↗' }).click();
    await page.getByRole('heading', { name: 'look at it' }).waitFor();
    await page.getByText('Works for the run').getByRole('link', { name: run_id }).click();
    await page.getByRole('heading', { name: 'have it looked at' }).waitFor();
    await square(page, /Attempt 1 of step 1/).click();
    const attempt = page.getByRole('region', { name: 'The selected attempt' });
    expect(await attempt.getByRole('link', { name: child }).getAttribute('href')).toBe(`/ui${pathOf(child)}`);
    expectQuiet(opened);
  });

  it('a run that was started elsewhere for this one is linked while both run', async () => {
    const run_id = world.newRunId('host');
    const joined = world.newRunId('guest');
    await world.runs.start({ agent: 'asker', goal: 'host', run_id, input: run_id });
    await letGo(`${run_id}:1`);
    const { page } = await world.open(pathOf(run_id));
    await world.runs.start({ agent: 'demo', goal: 'guest', run_id: joined, parent_run_id: run_id });
    await page.getByRole('region', { name: 'Sub-runs' }).getByRole('link', { name: joined }).click();
    await page.getByText('Works for the run').getByRole('link', { name: run_id }).waitFor();
    await letGo(`${run_id}:2`);
    expect((await world.runs.result(run_id)).outcome).toBe('completed');
  });
});

describe('passes', () => {
  it('scores stand against the thresholds in the policy of this run', async () => {
    const run_id = world.newRunId('strict');
    const policy = {
      retry: { base_ms: 1 },
      reruns: { alignment_threshold: 0.91, drift_threshold: 0.07 },
      fatigue: { critical_threshold: 0.63 },
    };
    await world.runs.start({ agent: 'demo', goal: 'be strict', run_id, policy });
    await world.runs.result(run_id);
    const { page } = await world.open(`${pathOf(run_id)}?tab=passes`);
    const passes = page.getByRole('region', { name: 'Passes' });
    await passes.getByRole('row').nth(1).getByText('1.00').waitFor();
    const heads = await passes.getByRole('columnheader').allTextContents();
    expect(heads).toEqual(['Pass', 'Alignmentat least 0.91', 'Driftat most 0.07', 'Fatiguebelow 0.63', 'Decision']);
  });
});

describe('prompts', () => {
  it('the prompt of an attempt is compared with the request before it, also in a tab of its own', async () => {
    const run_id = world.newRunId('thinker');
    await world.runs.start({ agent: 'thinker', goal: 'look closely', run_id });
    await world.runs.result(run_id);
    const opened = await world.open(`${pathOf(run_id)}?step=2&attempt=1`);
    const { page } = opened;
    const prompt = page
      .getByRole('region', { name: 'The selected attempt' })
      .getByRole('list', { name: /^Prompt of request 2/ });
    // The instructions and the goal are the same; the first call and its result are new.
    await prompt.getByRole('button', { name: /system the same/ }).waitFor();
    await prompt.getByRole('region', { name: 'tool, new' }).getByText('+ {"seen":{"at":1}}').waitFor();
    await page.getByRole('tab', { name: 'Prompts' }).click();
    await page.getByLabel('Request to the model').selectOption('1');
    await page.getByRole('tabpanel').getByText('This is the first request').waitFor();
    expect(await page.getByRole('tabpanel').getByRole('region', { name: 'user, new' }).textContent()).toContain(
      'look closely',
    );
    expectQuiet(opened);
  });
});
