/** Needs nothing. Values that would not fit into Temporal are refused in the activity, with a problem that says what to do. */
import { describe, expect, it } from 'vitest';
import { askPlanner } from '../../../src/activities/ask-planner.ts';
import type { PlannerView } from '../../../src/core/run/ports.ts';
import { defineTool } from '../../../src/define/define-tool.ts';
import type { Json } from '../../../src/protocol/json.ts';
import { request, succeeded, toolEnvironment } from '../../support/tool-environment.ts';
import { z } from 'zod';

const view = { agent: 'tester', timeout_ms: 10_000 } as PlannerView;
const choose = (choice: unknown) => askPlanner({ choose: () => choice as { calls: [] } }, view, toolEnvironment());

describe('the choice of a planner', () => {
  it.each([
    ['is too large', { calls: [], output: 'x'.repeat(5_000_000) }, /over the cap of 262144; choose fewer or smaller/],
    ['holds itself', { calls: [], output: holdsItself() }, /nested deeper than 100 levels/],
    ['is not JSON', { calls: [], output: 10n }, /not JSON/],
  ])('that %s fails as an invalid plan and says why', async (_what, choice, why) => {
    const outcome = await choose(choice);
    expect(outcome).toMatchObject({
      class: 'failed',
      error_code: 'INVALID_PLAN',
      message_preview: expect.stringMatching(why),
    });
  });

  it('a choice within the caps arrives unchanged', async () => {
    expect(await choose({ calls: [{ tool: 'look', input: { at: 1 } }] })).toMatchObject({
      class: 'ok',
      calls: [{ tool: 'look', input: { at: 1 } }],
    });
  });
});

describe('the details of a heartbeat', () => {
  it.each([
    ['small ones', { done: 3 }, { done: 3 }, 0],
    ['none', undefined, undefined, 0],
    ['large ones', 'x'.repeat(20_000), undefined, 1],
  ])(
    '%s: the tool goes on, and what is too large is dropped with a line in the log',
    async (_what, told, sent, lines) => {
      const beats: (Json | undefined)[] = [];
      const env = toolEnvironment({ heartbeat: (details) => void beats.push(details) });
      const tool = defineTool({
        name: 'tool',
        input: z.object({}),
        output: z.string(),
        effect: 'read',
        run: async (_input, ctx) => {
          ctx.heartbeat(told);
          return 'done';
        },
      });
      expect((await succeeded(tool, request({}), env)).output).toBe('done');
      expect(beats).toEqual([sent]);
      expect(env.events('heartbeat_details_dropped')).toHaveLength(lines);
    },
  );
});

function holdsItself(): object {
  const list: unknown[] = [];
  list.push(list, list);
  return list;
}
