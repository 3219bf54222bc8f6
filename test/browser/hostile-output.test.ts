/** Outputs that try to run, to hide, to reorder and to be too large. No script runs, and the page keeps its width. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { defineAgent } from '../../src/define/define-agent.ts';
import { defineTool } from '../../src/define/define-tool.ts';
import { type DashboardWorld, expectQuiet, openDashboard } from './support/dashboard-world.ts';

const ATTACKS = [
  '<script>globalThis.hacked = 1</script>',
  '<img src=x onerror="globalThis.hacked = 1">',
  '"><svg onload=globalThis.hacked=1>',
  'javascript:globalThis.hacked=1',
  '\u202Eevil\u202C \u2066right\u2069 \u200Bhidden',
  '\u0000\u0007\u001B[31mred\u001B[0m\u009F',
  '</pre></div><style>*{display:none}</style>',
  'W'.repeat(5_000),
].join('\n');

const hostile = defineTool({
  name: 'hostile',
  effect: 'read',
  input: z.strictObject({ text: z.string(), mb: z.int() }),
  output: z.json(),
  run: ({ text, mb }, { attempt }) => {
    if (attempt === 1 && mb === 0) throw new Error(text);
    return { text: mb === 0 ? text : 'x'.repeat(mb * 1_000_000) + text };
  },
});

let world: DashboardWorld;
beforeAll(async () => {
  world = await openDashboard([defineAgent({ name: 'hostile', tools: [hostile] })]);
});
afterAll(() => world.close());

describe('hostile output', () => {
  it('no script of an output runs on any tab, and no tab is wider than the window', async () => {
    const run_id = world.newRunId('hostile');
    const steps = [
      { phase: ATTACKS.slice(0, 60), tool: 'hostile', input: { text: ATTACKS, mb: 0 } },
      { phase: 'large', tool: 'hostile', input: { text: ATTACKS, mb: 1 } },
    ];
    const policy = { retry: { base_ms: 1 } };
    await world.runs.start({ agent: 'hostile', goal: ATTACKS.slice(0, 900), run_id, plan: { steps }, policy });
    await world.runs.result(run_id);
    for (const width of [1440, 360]) {
      const opened = await world.open(`/runs/${run_id}?step=1&attempt=1`, { width });
      const { page } = opened;
      for (const tab of ['Timeline', 'Steps', 'Transcript', 'Failures', 'Passes', 'Result']) {
        await page.getByRole('tab', { name: tab }).click();
        await page.getByRole('tabpanel', { name: tab }).waitFor();
        const over = await page.evaluate<number>('document.documentElement.scrollWidth - innerWidth');
        expect({ tab, over }).toEqual({ tab, over: 0 });
      }
      await page
        .getByRole('region', { name: 'Attempts' })
        .getByRole('button', { name: /Attempt 2 of step 1/ })
        .click();
      await page.getByRole('region', { name: 'Output' }).getByText('<script>').waitFor();
      await page.goto(`${world.served.url}/ui/`);
      await page.getByRole('listitem').first().waitFor();
      expect(await page.evaluate('globalThis.hacked')).toBeUndefined();
      expect(await page.getByText('⟨U+202E⟩').count()).toBeGreaterThan(0);
      expectQuiet(opened);
    }
  });
});
