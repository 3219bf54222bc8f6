/**
 * 2,000 runs of random policies and plans in a hostile world: tools that fail in every way, planners that never stop,
 * people who answer anything, late or not at all, stores that go away. Every run ends, and none passes a figure of its
 * bound. Needs nothing. Seeded: what fails here fails again. Does not prove tokens and cost: a planner says what it used
 * when it is over, and until models have a worst case to reserve, the last call of a run can overshoot.
 */
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { FAILURE_CATEGORIES } from '../../../../src/protocol/failure-categories.ts';
import { sha256Hex } from '../../../../src/protocol/ids.ts';
import { DECISIONS } from '../../../../src/protocol/run.ts';
import type { RunRequest } from '../../../../src/protocol/run.ts';
import type { CallOutcome, ToolCallRequest } from '../../../../src/protocol/tools.ts';
import { seededRandom } from '../../../../src/simulator/seeded-random.ts';
import { type Simulated, simulateRun, type World } from '../../../../src/simulator/simulate-run.ts';
import { createRegistry } from '../../../../src/define/registry.ts';
import { defineAgent } from '../../../../src/define/define-agent.ts';
import { plainRegistry, prepared } from '../../../support/fixtures.ts';
import { anyPolicy } from './any-policy.ts';

const RUNS = 2_000;

const tools = plainRegistry.agents.get('plain')?.tools ?? [];
const names = tools.map((tool) => tool.name);
const registry = createRegistry([
  defineAgent({ name: 'plain', tools }),
  defineAgent({ name: 'chooser', tools, planner: { choose: () => ({ calls: [] }) } }),
]);

/** A world that is as bad as its seed says. `instant`: calls take no time, so that all time that passes is waiting. */
function hostileWorld(seed: number, instant: boolean): World {
  const random = seededRandom(seed);
  const pick = <T>(from: readonly T[]): T => from[Math.floor(random() * from.length)] as T;
  const badness = random();
  const politeness = random();

  const outcome = (longest: number): Exclude<CallOutcome, { class: 'cancelled' }> => {
    const duration_ms = instant ? 0 : Math.floor(random() * Math.min(longest, 20_000));
    if (random() >= badness) {
      const text = JSON.stringify(pick([1, 2, 3, 'x'.repeat(5_000)]));
      const inline = random() < 0.9;
      const output = inline ? (JSON.parse(text) as string | number) : null;
      return { class: 'ok', output, inline, artifact_id: sha256Hex(text), bytes: text.length, duration_ms };
    }
    const category = pick(FAILURE_CATEGORIES);
    return {
      class: 'failed',
      certainty: pick(['not_started', 'failed', 'unknown'] as const),
      origin: pick(['tool', 'infrastructure'] as const),
      category,
      error_code: pick(['A', 'B', category]),
      message_preview: `it broke ${Math.floor(random() * 4)}`,
      ...(random() < 0.3 && { retry_after_ms: Math.floor(random() * 100_000) }),
      duration_ms,
    };
  };

  return {
    call: (request: ToolCallRequest) => outcome(request.timeout_ms),
    reconcile: () => ({ verdict: pick(['not_done', 'unknown'] as const) }),
    plan: () => {
      const how = outcome(10_000);
      if (how.class === 'failed') return how;
      const wanted = random() < 0.05 ? 0 : Math.ceil(random() * 5);
      const tool = () => (random() < 0.05 ? 'no.such.tool' : pick(names));
      const calls = Array.from({ length: wanted }, () => ({ tool: tool(), input: { n: pick([1, 2]) } }));
      return { class: 'ok', calls, tokens: 0, cost_micro_usd: 0, duration_ms: how.duration_ms };
    },
    react: (shown, send) => {
      const by = 'ada';
      if (random() < 0.2) send(random() * 5_000, 'feedback', { text: 'hurry', by });
      if (random() < 0.2) send(random() * 5_000, 'override', { override_fatigue: true, override_by: by });
      if (random() < 0.1) send(random() * 5_000, 'answer', { question_id: 'nobody:q1', decision: 'retry', by });
      if (random() < 0.02) send(random() * 50_000, 'cancel_run', { by });
      if (shown.question === null || random() > politeness) return;
      const { question_id, options } = shown.question;
      const decision = random() < 0.8 ? pick(options) : pick(DECISIONS);
      for (let times = random() < 0.2 ? 2 : 1; times > 0; times -= 1) {
        send(random() * 700_000, 'answer', { question_id, decision, text: 'do it so', by });
      }
    },
    storeIsUp: () => random() > 0.2,
  };
}

const scene = fc.record({
  seed: fc.nat(),
  policy: anyPolicy,
  plan: fc.option(
    fc.array(fc.record({ tool: fc.constantFrom(...names), beside: fc.boolean() }), { minLength: 1, maxLength: 12 }),
    { freq: 3, nil: null },
  ),
  instant: fc.boolean(),
});
type Scene = typeof scene extends fc.Arbitrary<infer T> ? T : never;

const requestOf = ({ policy, plan }: Scene): RunRequest => ({
  agent: plan === null ? 'chooser' : 'plain',
  goal: 'survive',
  policy,
  ...(plan !== null && {
    plan: {
      steps: plan.map(({ tool, beside }) => ({ phase: 'p', tool, input: {}, ...(beside && { after: [] }) })),
    },
  }),
});

const run = (given: Scene): Promise<Simulated> =>
  simulateRun(prepared(requestOf(given), registry), {
    world: hostileWorld(given.seed, given.instant),
    seed: given.seed,
    handOverShare: 0.1,
  });

describe('a run in a hostile world', () => {
  it(`ends inside its bound, ${RUNS} times`, { timeout: 120_000 }, async () => {
    const outcomes: Record<string, number> = {};
    const nearest = { steps: 0, attempts: 0, model_calls: 0, wait: 0 };
    await fc.assert(
      fc.asyncProperty(scene, async (given) => {
        const { state, calls } = await run(given);
        const { bound, policy } = state.run;
        const { result } = state;
        if (result === null) throw new Error('no result');
        const { used } = result;
        const waitedMs = Date.parse(result.ended_at) - Date.parse(result.started_at);
        expect(result.loops).toBeLessThanOrEqual(bound.loops);
        expect(used.steps).toBeLessThanOrEqual(bound.steps);
        expect(used.attempts).toBeLessThanOrEqual(bound.attempts);
        expect(used.model_calls).toBeLessThanOrEqual(bound.model_calls);
        // What the world saw, not only what the ledger says.
        expect(calls).toBeLessThanOrEqual(bound.attempts);
        expect(calls).toBe(used.attempts);
        // Where calls take no time, all time that passed was waiting.
        expect(given.instant ? waitedMs : 0).toBeLessThanOrEqual(bound.wait_ms);
        expect(state.ledger.human_wait_ms).toBeLessThanOrEqual(bound.wait_ms);
        expect(state.questions_asked).toBeLessThanOrEqual(policy.humans.max_questions);
        expect(state.feedback.length).toBeLessThanOrEqual(policy.humans.max_feedback);
        expect(new TextEncoder().encode(JSON.stringify(state)).length).toBeLessThan(256 * 1024);

        outcomes[result.outcome] = (outcomes[result.outcome] ?? 0) + 1;
        for (const figure of ['steps', 'attempts', 'model_calls'] as const) {
          if (bound[figure] > 0) nearest[figure] = Math.max(nearest[figure], used[figure] / bound[figure]);
        }
        if (given.instant && bound.wait_ms > 0) nearest.wait = Math.max(nearest.wait, waitedMs / bound.wait_ms);
      }),
      { numRuns: RUNS, seed: 20_260_101 },
    );
    console.log(`outcomes of ${RUNS} hostile runs`, outcomes, 'nearest to the bound', nearest);
    // A world in which only one thing ever happens would prove nothing.
    expect(Object.keys(outcomes).sort()).toEqual([
      'budget_exhausted',
      'cancelled',
      'completed',
      'finalized',
      'system_error',
    ]);
    // And the bound is one that runs really reach.
    expect(nearest).toMatchObject({ steps: 1, attempts: 1, model_calls: 1 });
  });

  it('lives the same life again from the same seed', async () => {
    const [given] = fc.sample(scene, { numRuns: 1, seed: 7 });
    if (given === undefined) throw new Error('no scene');
    const [one, other] = [await run(given), await run(given)];
    expect(JSON.stringify(one.state)).toBe(JSON.stringify(other.state));
  });
});
