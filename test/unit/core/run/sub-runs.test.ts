/** Steps that another agent does, in the simulated world: its grant, what it returns, and what its parent is told. */
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { agentTool } from '../../../../src/define/agent-tool.ts';
import { defineAgent } from '../../../../src/define/define-agent.ts';
import { defineTool } from '../../../../src/define/define-tool.ts';
import { prepareRun } from '../../../../src/define/prepare-run.ts';
import { createRegistry } from '../../../../src/define/registry.ts';
import type { PlannerView } from '../../../../src/core/run/ports.ts';
import type { RunRequest } from '../../../../src/protocol/run.ts';
import type { SubRunOutcome, SubRunRequest, SubRunResult } from '../../../../src/protocol/sub-runs.ts';
import { simulateRun, type World } from '../../../../src/testing/simulator/simulate-run.ts';
import { prepared } from '../../../support/fixtures.ts';
import { resultOfRun } from '../../../../src/core/run/life.ts';

const look = defineTool({ name: 'look', effect: 'read', input: z.json(), output: z.json(), run: () => null });
const pay = defineTool({ name: 'pay', effect: 'side_effect', input: z.json(), output: z.json(), run: () => null });
const scout = defineAgent({ name: 'scout', tools: [look], planner: { choose: () => ({ calls: [] }) } });
const boss = defineAgent({
  name: 'boss',
  tools: [look, agentTool(scout)],
  planner: { choose: () => ({ calls: [] }) },
});
const registry = createRegistry([boss]);
const ONE_PASS = { policy: { reruns: { max_reruns: 0 } } };

const used = { steps: 2, attempts: 3, model_calls: 4, tokens: 500, cost_micro_usd: 6, seconds: 1 };
const ended = (over: Partial<SubRunResult> = {}): SubRunOutcome => ({
  class: 'ended',
  result: {
    outcome: 'completed',
    why: 'all of its work is done',
    result: { output: 'found', artifact_id: null, loop_id: 'loop_x' },
    used,
    questions: 0,
    ...over,
  },
  duration_ms: 1_000,
});

/**
 * Runs a parent that calls the scout the given number of times at once and then ends. Returns the grants and the
 * result.
 */
async function live(end: SubRunOutcome, request: Partial<RunRequest> = {}, atOnce = 1, goal = 'look around') {
  const asked: SubRunRequest[] = [];
  const views: PlannerView[] = [];
  const call = { tool: 'scout', input: { goal } };
  const world: World = {
    call: () => {
      throw new TypeError('no tool is called here');
    },
    subRun: (sub) => {
      asked.push(sub);
      return end;
    },
    plan: (view) => {
      views.push(view);
      const calls = view.turn === 1 ? Array.from({ length: atOnce }, () => call) : [];
      return { class: 'ok', calls, output: 'done', tokens: 0, cost_micro_usd: 0, duration_ms: 1 };
    },
  };
  const run = prepared({ agent: 'boss', goal: 'g', run_id: 'run-1', ...request }, registry);
  const { state } = await simulateRun(run, { world });
  return { asked, views, state, result: resultOfRun(state) };
}

describe('a run that works for another', () => {
  it('a sub-run may use half of the remaining budget and returns what it does not use', async () => {
    const { asked, result } = await live(ended(), {
      policy: { budget: { max_steps: 21, max_attempts: 41, max_model_calls: 11, max_tokens: 1_000 } },
    });
    expect(asked).toHaveLength(1);
    expect(asked[0]).toMatchObject({ run_id: 'run-1', sub_run_id: 'run-1.s1.a1', agent: 'scout', goal: 'look around' });
    // One step, one attempt and one turn of the parent's own are spent before it starts.
    expect(asked[0]?.grant.budget).toMatchObject({
      max_steps: 10,
      max_attempts: 20,
      max_model_calls: 5,
      max_tokens: 500,
      max_cost_micro_usd: null,
    });
    expect(result?.used).toMatchObject({ steps: 3, attempts: 4, model_calls: 6, tokens: 500, cost_micro_usd: 6 });
  });

  it('sub-runs that start together share the budget evenly with their parent', async () => {
    const { asked, result } = await live(ended(), { policy: { budget: { max_steps: 11, max_attempts: 19 } } }, 3);
    expect(asked.map(({ grant }) => grant.budget.max_steps)).toEqual([2, 2, 2]);
    expect(asked.map(({ grant }) => grant.budget.max_attempts)).toEqual([4, 4, 4]);
    expect(asked.map(({ grant }) => grant.humans.max_questions)).toEqual([1, 1, 1]);
    expect(result?.used).toMatchObject({ steps: 9, attempts: 12 });
  });

  it('a sub-run is not started when no budget is left, and the planner is told why', async () => {
    const { asked, views } = await live(ended(), { policy: { budget: { max_steps: 2 } } });
    expect(asked).toEqual([]);
    expect(views[1]?.steps).toMatchObject([{ status: 'failed', error_code: 'SUB_RUN_NO_BUDGET' }]);
  });

  it('a sub-run gives its output and its outcome to its parent', async () => {
    const { views } = await live(ended());
    expect(views[1]?.steps).toMatchObject([{ status: 'ok', output: { outcome: 'completed', output: 'found' } }]);
    const stopped = await live(ended({ outcome: 'finalized', why: 'no rerun is left' }));
    expect(stopped.views[1]?.steps[0]?.output).toEqual({
      outcome: 'finalized',
      output: 'found',
      why: 'no rerun is left',
    });
  });

  it("a sub-run's output that only the store has is passed on as a pointer", async () => {
    const { views } = await live(ended({ result: { output: null, artifact_id: 'abc', loop_id: 'l' } }));
    expect(views[1]?.steps[0]?.output).toEqual({ outcome: 'completed', output: { $artifact: 'abc' } });
  });

  it.each(['budget_exhausted', 'system_error', 'cancelled'] as const)(
    'a sub-run that ends %s fails its step, and the step is not retried',
    async (outcome) => {
      const { asked, views, state } = await live(ended({ outcome, why: 'so it is', result: null }), ONE_PASS);
      expect(asked).toHaveLength(1);
      expect(views[1]?.steps).toMatchObject([{ status: 'failed', error_code: `SUB_RUN_${outcome.toUpperCase()}` }]);
      expect(views[1]?.steps[0]?.message_preview).toContain('so it is');
      expect(resultOfRun(state)?.failures.total).toBe(1);
    },
  );

  it('a lost sub-run counts as having used its whole grant', async () => {
    const { asked, result } = await live({ class: 'lost', why: 'terminated', duration_ms: 5 }, ONE_PASS);
    const { max_steps, max_attempts, max_tokens } = asked[0]?.grant.budget ?? {};
    expect(result?.used).toMatchObject({ steps: 1 + (max_steps ?? 0), attempts: 1 + (max_attempts ?? 0) });
    expect(result?.used.tokens).toBe(max_tokens);
  });

  it("a sub-run uses the parent's questions, and its wait for people does not count as the parent's time", async () => {
    const waited = { ...ended({ questions: 2, used: { ...used, seconds: 4 } }), duration_ms: 3_600_000 };
    const { asked, result, state } = await live(waited);
    expect(asked[0]?.grant.humans).toEqual(state.run.policy.humans);
    expect(result?.questions).toBe(2);
    expect(result?.used.seconds).toBeLessThan(10);
  });

  it('a sub-run without a goal is refused', async () => {
    const { asked, views } = await live(ended(), {}, 1, ' ');
    expect(asked).toEqual([]);
    expect(views[1]?.steps).toMatchObject([{ status: 'failed', error_code: 'INVALID_INPUT' }]);
  });
});

describe('an agent that others work for', () => {
  const plan = (tool: string) => ({ steps: [{ phase: 'work', tool, input: { goal: 'x' } }] });
  const boundOf = (request: Partial<RunRequest>) => prepared({ agent: 'boss', goal: 'g', ...request }, registry).bound;

  it('the limit of an agent with helpers is its budget, because the helpers draw on it', () => {
    const budget = { max_steps: 30, max_attempts: 60, max_model_calls: 9, max_tokens: 1_234 };
    expect(boundOf({ plan: plan('scout'), policy: { budget } })).toMatchObject({
      steps: 30,
      attempts: 60,
      model_calls: 9,
      tokens: 1_234,
    });
    // A plan that asks nobody has the bound of its own steps.
    expect(boundOf({ plan: plan('look'), policy: { budget } })).toMatchObject({ model_calls: 0, tokens: 0 });
  });

  it("the limit of an agent with helpers includes the longest wait that a helper's policy allows", () => {
    const patient = defineAgent({ ...scout, name: 'patient', policy: { retry: { max_wait_ms: 3_000_000 } } });
    const of = (helper: typeof scout) =>
      prepared({ agent: 'asker', goal: 'g' }, createRegistry([{ ...boss, name: 'asker', tools: [agentTool(helper)] }]))
        .bound.wait_ms;
    expect(of(patient)).toBeGreaterThan(of(scout));
  });

  it('a worker that is given an agent also registers its helpers at any depth', () => {
    const deep = defineAgent({ ...scout, name: 'deep', tools: [agentTool(scout)] });
    const top = defineAgent({ ...boss, name: 'top', tools: [agentTool(deep)] });
    expect([...createRegistry([top]).agents.keys()].sort()).toEqual(['deep', 'scout', 'top']);
    const other = defineAgent({ ...scout, tools: [] });
    expect(() => createRegistry([boss, other])).toThrow('Two agents are named scout.');
  });

  it("an agent with a cost budget is refused when a helper's model has no prices", () => {
    const thinker = defineAgent({ name: 'thinker', instructions: 'think', model: 'm', tools: [] });
    const asker = defineAgent({
      name: 'asker',
      tools: [agentTool(thinker)],
      planner: { choose: () => ({ calls: [] }) },
    });
    const request = { agent: 'asker', goal: 'g', policy: { budget: { max_cost_micro_usd: 5 } } };
    expect(prepareRun(request, createRegistry([asker]), 'r')).toMatchObject({
      ok: false,
      problems: [{ message: expect.stringContaining('the agent thinker has no prices') }],
    });
  });

  it('an agent as a tool has the strictest effect of its own tools', () => {
    expect(agentTool(scout).manifest).toMatchObject({ name: 'scout', agent: 'scout', effect: 'read' });
    expect(agentTool({ ...scout, tools: [look, pay] }, { name: 'payer', approval: true }).manifest).toMatchObject({
      name: 'payer',
      effect: 'side_effect',
      approval: true,
    });
    expect(() => agentTool(defineAgent({ name: 'empty', tools: [] }))).toThrow(
      'Give it instructions, a planner or a plan',
    );
  });
});
