/** Every page with axe-core, light and dark. */
import axe from 'axe-core';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { defineAgent } from '../../src/define/define-agent.ts';
import { defineTool } from '../../src/define/define-tool.ts';
import { demoAgent } from '../../src/cli/demo/demo-agent.ts';
import { type DashboardWorld, openDashboard } from './support/dashboard-world.ts';

const refund = defineTool({
  name: 'refund',
  effect: 'side_effect',
  approval: true,
  input: z.strictObject({ ticket: z.string() }),
  output: z.json(),
  run: (input) => input,
});

let world: DashboardWorld;
let [ended, waiting] = ['', ''];
beforeAll(async () => {
  const plan = { steps: [{ phase: 'pay', tool: 'refund', input: { ticket: 'T-1' } }] };
  world = await openDashboard([demoAgent, defineAgent({ name: 'refunds', tools: [refund], plan })]);
  ended = world.newRunId('ended');
  waiting = world.newRunId('waiting');
  await world.runs.start({ agent: 'demo', goal: 'an ended run', run_id: ended, policy: { retry: { base_ms: 1 } } });
  await world.runs.result(ended);
  await world.runs.start({ agent: 'refunds', goal: 'a run that waits', run_id: waiting });
  for await (const event of world.runs.watch(waiting)) if (event.event === 'question_asked') break;
});
afterAll(() => world.close());

interface Finding {
  id: string;
  impact: string;
  nodes: { html: string; failureSummary: string }[];
}

/** Playwright runs the text in the page itself, so the content security policy of the page stays as it is. */
async function seriousFindings(page: Page): Promise<string[]> {
  await page.evaluate(axe.source);
  const { violations } = await page.evaluate<{ violations: Finding[] }>('axe.run({ resultTypes: ["violations"] })');
  return violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .flatMap(({ id, nodes }) => nodes.map(({ html, failureSummary }) => `${id}: ${html} ${failureSummary}`));
}

async function openFirstFailure(page: Page): Promise<void> {
  await page.getByRole('list', { name: 'Known failures' }).getByRole('button').first().click();
  await page.getByRole('region', { name: 'Samples' }).getByRole('link').first().waitFor();
}

const PAGES: [name: string, path: () => string, ready: (page: Page) => Promise<unknown>][] = [
  ['sign-in', () => '/', (page) => page.getByRole('button', { name: 'Sign in' }).waitFor()],
  ['runs', () => '/', (page) => page.getByRole('listitem').first().waitFor()],
  ['no runs', () => '/?agent=nobody', (page) => page.getByText('No run fits').waitFor()],
  ...['timeline', 'steps', 'transcript', 'failures', 'passes', 'result'].map((tab): (typeof PAGES)[number] => [
    `run, tab ${tab}`,
    () => `/runs/${ended}?tab=${tab}&step=1&attempt=1`,
    (page) => page.getByText(/^fp1:tool_error/).waitFor(),
  ]),
  [
    'run with a question',
    () => `/runs/${waiting}`,
    (page) => page.getByRole('article', { name: 'Question' }).getByRole('button', { name: 'Approve' }).click(),
  ],
  ['run with a dialog', () => `/runs/${waiting}`, (page) => page.getByRole('button', { name: 'Cancel' }).click()],
  ['known failures', () => '/failures', (page) => openFirstFailure(page)],
  ['lessons', () => '/lessons', (page) => page.getByText(/^\d+ lessons$/).waitFor()],
  ['does it help', () => '/help', (page) => page.getByRole('main').getByRole('heading').nth(1).waitFor()],
  ['inbox', () => '/inbox', (page) => page.getByRole('article', { name: 'Question' }).waitFor()],
];

describe('accessibility', () => {
  for (const dark of [false, true]) {
    it(`axe-core has no serious finding on any page, ${dark ? 'dark' : 'light'}`, { timeout: 240_000 }, async () => {
      const findings: string[] = [];
      for (const [name, path, ready] of PAGES) {
        const { page, context } = await world.open(path(), { dark, ...(name === 'sign-in' && { token: 'none' }) });
        await ready(page);
        findings.push(...(await seriousFindings(page)).map((finding) => `${name}: ${finding}`));
        await context.close();
      }
      expect(findings).toEqual([]);
    });
  }
});
