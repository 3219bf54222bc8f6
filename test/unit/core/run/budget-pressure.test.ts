/** A budget that runs out is guidance for whoever plans, while something can still be done about it. Virtual time. */
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import type { PlannerView } from '../../../../src/core/run/ports.ts';
import { defineAgent } from '../../../../src/define/define-agent.ts';
import { defineTool } from '../../../../src/define/define-tool.ts';
import { scriptedModel } from '../../../../src/testing.ts';
import { liveThinking } from '../../../support/thinking.ts';
import { everyRecord, failed, liveChoosing, succeeded } from './choosing-world.ts';

/** A planner that calls `look` in each turn until it has made this many calls. */
async function look(times: number, given: Partial<Parameters<typeof liveChoosing>[0]> = {}) {
  const views: PlannerView[] = [];
  const lived = await liveChoosing({
    plan: (view) => {
      views.push(view);
      return view.turn <= times ? { calls: [{ tool: 'look', input: { turn: view.turn } }] } : { calls: [] };
    },
    call: ({ step_id }) => succeeded(step_id),
    ...given,
  });
  return { ...lived, views, rows: views.map(({ guidance }) => guidance.rows.map(({ text }) => text)) };
}

describe('a budget under pressure', () => {
  it('is a row of guidance for the planner from the soft mark on, and says more at the near mark', async () => {
    const { rows } = await look(19, { policy: { budget: { max_steps: 20 } } });
    expect(rows[15]).toEqual([]);
    expect(rows[16]).toEqual([
      'If more work is planned, then do only what is needed, because budgets run out: steps mostly used up (16 of 20).',
    ]);
    expect(rows[18]?.[0]).toContain('mostly used up (18 of 20)');
    expect(rows[19]).toEqual([
      'If more work is planned, then finish with what is there, because budgets run out: steps almost used up (19 of 20).',
    ]);
  });

  it('is one row for all budgets, the nearest to its end first, and leads to its record', async () => {
    const lived = await look(9, { policy: { budget: { max_steps: 11, max_attempts: 10 } } });
    const row = lived.views.at(-1)?.guidance.rows.at(-1);
    expect(row?.text).toContain('attempts mostly used up (9 of 10), steps mostly used up (9 of 11)');
    const record = everyRecord(lived).find(({ failure_id }) => failure_id === row?.failure_id);
    expect(record).toMatchObject({ signal_type: 'budget_pressure', fingerprint: row?.fingerprint });
  });

  it('keeps its place when there is more guidance than the policy allows, and is not shown to tools', async () => {
    const told: string[] = [];
    const { rows } = await look(5, {
      policy: { budget: { max_steps: 5 }, failures: { guidance_k: 2, escalate_at: 100 } },
      call: (request) => {
        told.push(request.guidance.text);
        return failed(`CODE_${request.step_id}`, 'no');
      },
    });
    expect(rows.at(-1)).toHaveLength(2);
    expect(rows.at(-1)?.[0]).toContain('look');
    expect(rows.at(-1)?.[1]).toContain('budgets run out');
    expect(told.join()).not.toContain('budget');
  });

  it('is shown after turns that call no tool', async () => {
    const views: PlannerView[] = [];
    await liveChoosing({
      plan: (view) => {
        views.push(view);
        return { more: view.turn < 3, message: `thought ${view.turn}`, tokens: view.turn === 1 ? 850 : 50 };
      },
      call: () => succeeded(1),
      policy: { budget: { max_tokens: 1_000 } },
    });
    expect(views.map(({ guidance }) => guidance.text.match(/tokens \w+ used up/)?.[0])).toEqual([
      undefined,
      'tokens mostly used up',
      'tokens mostly used up',
    ]);
  });

  it('is not shown in observe mode', async () => {
    const { rows } = await look(5, { policy: { mode: 'observe', budget: { max_steps: 6 } } });
    expect(rows.flat()).toEqual([]);
  });

  it('is in the request to the model', async () => {
    const read = defineTool({ name: 'read', effect: 'read', input: z.json(), output: z.json(), run: (input) => input });
    const page = (n: number) => ({ calls: [{ tool: 'read', input: { page: n } }] });
    const model = scriptedModel([page(1), page(2), page(3), page(4), { text: 'done' }]);
    const agent = defineAgent({ name: 'reader', instructions: 'Read.', model, tools: [read] });
    await liveThinking([agent], { policy: { budget: { max_steps: 5 } } });
    const last = model.exchanges.map(({ request }) => JSON.stringify(request.messages.at(-1)));
    expect(last.map((text) => text.includes('steps mostly used up (4 of 5)'))).toEqual([
      false,
      false,
      false,
      false,
      true,
    ]);
  });
});
