/** Side effects over several passes, in the simulated world: a later pass does not repeat them, and new ones run. */
import { describe, expect, it } from 'vitest';
import { CAP } from '../../../../src/protocol/caps.ts';
import type { Json } from '../../../../src/protocol/json.ts';
import type { ToolCallRequest } from '../../../../src/protocol/tools.ts';
import { liveChoosing, succeeded } from './choosing-world.ts';

/** The reviewer always rejects, so that there are as many passes as the policy allows. */
const harsh = { review: () => ({ alignment_score: 0.5, drift_score: 0 }) };

async function passes(callsOfPass: (pass: number) => { tool: string; input: Json }[], reruns = 2) {
  const ran: string[] = [];
  const told: (string[] | undefined)[] = [];
  const call = (request: ToolCallRequest) => {
    ran.push(`${request.tool} ${JSON.stringify(request.input)}`);
    return succeeded(request.input);
  };
  const { result, state } = await liveChoosing({
    plan: (view) => {
      const pass = Number(/_r(\d+)$/.exec(view.loop_id)?.[1] ?? 0);
      if (view.turn === 1) told.push(view.rerun?.done);
      return view.turn === 1 ? { calls: callsOfPass(pass) } : { calls: [], output: 'done' };
    },
    call,
    judged: true,
    more: harsh,
    policy: { reruns: { max_reruns: reruns } },
  });
  return { ran, told, result, state };
}

describe('a side effect', () => {
  it('a later pass does not repeat a side effect that it calls with the same input', async () => {
    const { ran, told, result } = await passes(() => [{ tool: 'pay', input: { to: 'ada', euros: 5 } }]);
    expect(ran).toEqual(['pay {"to":"ada","euros":5}']);
    expect(result).toMatchObject({ loops: 3, used: { steps: 3, attempts: 1 } });
    expect(told).toEqual([undefined, ['pay {"to":"ada","euros":5}'], ['pay {"to":"ada","euros":5}']]);
  });

  it('a side effect runs in a later pass when its input differs', async () => {
    const { ran } = await passes((pass) => [{ tool: 'pay', input: { euros: pass } }]);
    expect(ran).toEqual(['pay {"euros":0}', 'pay {"euros":1}', 'pay {"euros":2}']);
  });

  it('two equal side effects answer two later calls, and a third call runs', async () => {
    const pay = { tool: 'pay', input: 1 };
    const { ran } = await passes((pass) => (pass === 0 ? [pay, pay] : [pay, pay, pay]), 1);
    expect(ran).toHaveLength(3);
  });

  it('a later pass repeats read calls, which are not side effects', async () => {
    const { ran } = await passes(() => [{ tool: 'look', input: 1 }]);
    expect(ran).toHaveLength(3);
  });

  it('each side effect of the longest plan runs once, although there is a second and a third pass', async () => {
    const ran: Json[] = [];
    const { result, state } = await liveChoosing({
      steps: Array.from({ length: CAP.planSteps }, (_, order) => ({ tool: 'pay', input: { order } })),
      call: (request: ToolCallRequest) => {
        ran.push(request.input);
        return succeeded(request.input);
      },
      judged: true,
      more: harsh,
      policy: { reruns: { max_reruns: 2 }, budget: { max_steps: 1_000, max_attempts: 2_000, max_seconds: 80_000 } },
    });
    expect(result).toMatchObject({ loops: 3, used: { steps: 3 * CAP.planSteps } });
    expect({ ran: ran.length, distinct: new Set(ran.map((input) => JSON.stringify(input))).size }).toEqual({
      ran: CAP.planSteps,
      distinct: CAP.planSteps,
    });
    expect(JSON.stringify(state.effects).length).toBeLessThan(128 * 1_024);
  });
});
