/** The list of runs in a real browser. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { apiAgents, endlessPlan } from '../support/api-agents.ts';
import { type DashboardWorld, expectQuiet, openDashboard } from './support/dashboard-world.ts';

let world: DashboardWorld;
beforeAll(async () => {
  world = await openDashboard(apiAgents);
});
afterAll(() => world.close());

describe('the link that dev prints', () => {
  it('the root opens the dashboard, and the token is kept for the tab and leaves the address', async () => {
    const { page, ...opened } = await world.open('/');
    await page.goto(`${world.served.url}/#token=operator-token-of-the-tests`);
    await page.getByRole('heading', { name: 'Runs', exact: true }).waitFor();
    expect(page.url()).toBe(`${world.served.url}/ui/`);
    await page.reload();
    await page.getByRole('heading', { name: 'Runs', exact: true }).waitFor();
    expectQuiet({ page, ...opened });
  });

  it('an unknown token gets the sign-in page with the reason and no data', async () => {
    const { page } = await world.open('/', { token: 'expired-token' });
    await page.getByRole('alert').getByText('This token is unknown or no longer valid.').waitFor();
    expect(await page.getByRole('listitem').count()).toBe(0);
    await page.getByLabel('Token').fill('viewer-token-of-the-tests');
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByRole('heading', { name: 'Runs', exact: true }).waitFor();
  });
});

describe('the list', () => {
  it('a run appears when it starts, and its row says how it ended, without a reload', async () => {
    const opened = await world.open('/');
    const { page } = opened;
    await page
      .getByRole('status')
      .getByText(/runs?$/)
      .waitFor();
    const runId = world.newRunId('watched');
    await world.runs.start({ agent: 'endless', goal: 'watch this one', run_id: runId, plan: endlessPlan() });
    const row = page.getByRole('listitem').filter({ hasText: runId });
    await row.getByText('running').waitFor();
    await world.runs.cancel(runId, { by: 'ann' });
    await row.getByText('cancelled').waitFor();
    expect(await row.getByRole('link').getAttribute('href')).toBe(`/ui/runs/${runId}`);
    expectQuiet(opened);
  });

  it('filters and search are in the address and survive a reload', async () => {
    const [kept, other] = [world.newRunId('needle'), world.newRunId('hay')];
    for (const run_id of [kept, other]) {
      await world.runs.start({ agent: 'demo', goal: run_id, run_id, policy: { retry: { base_ms: 1 } } });
      await world.runs.result(run_id);
    }
    const { page } = await world.open('/?state=ended');
    await page.getByRole('searchbox').fill(kept);
    await page.getByLabel('Outcome').focus();
    await page.waitForURL(/q=/);
    await page.getByLabel('Outcome').selectOption('completed');
    await page.waitForURL(/outcome=completed/);
    await page.reload();
    await page.getByRole('listitem').filter({ hasText: kept }).waitFor();
    expect(await page.getByRole('listitem').count()).toBe(1);
    expect(await page.getByLabel('State').inputValue()).toBe('ended');
  });
});
