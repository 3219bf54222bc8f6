/**
 * The formula of a run's limit, as a table. Needs nothing. test/unit/core/bound/runs-stay-inside.test.ts shows that no
 * simulated run exceeds its limit, and test/stack/two-worlds.test.ts that Temporal executes the same story.
 */
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { boundSentence } from '../../../../src/core/bound/sentence.ts';
import { computeBound } from '../../../../src/core/bound/compute-bound.ts';
import { mergePolicy } from '../../../../src/core/policy/merge-policy.ts';
import type { Bound } from '../../../../src/protocol/run.ts';
import type { PolicyPatch } from '../../../../src/protocol/schemas/policy.ts';
import { anyPolicy } from './any-policy.ts';

const bound = (planLength: number | null, ...patches: PolicyPatch[]): Bound =>
  computeBound({ policy: mergePolicy(...patches), planLength });

const DAY_MS = 86_400_000;
/** A policy without retries and questions, so that only the plan counts. */
const BARE: PolicyPatch = {
  retry: {
    validation: 0,
    rate_limit: 0,
    network: 0,
    server_error: 0,
    timeout: 0,
    context_length: 0,
    worker_lost: 0,
    unknown_error: 0,
  },
  reruns: { max_reruns: 0 },
  humans: { max_overrides: 0, max_questions: 0 },
};

describe('the formula', () => {
  it.each<{ what: string; got: Bound; is: Partial<Bound> }>([
    { what: 'the defaults, one step', got: bound(1), is: { loops: 7, steps: 7, attempts: 7 * 8 + 3 } },
    { what: 'the defaults, ten steps: both caps', got: bound(10), is: { steps: 50, attempts: 120 } },
    {
      what: 'a plan of one step and nothing else',
      got: bound(1, BARE),
      is: { loops: 1, steps: 1, attempts: 1, wait_ms: 0 },
    },
    {
      what: 'loops = 1 + max_reruns + max_overrides',
      got: bound(2, BARE, { reruns: { max_reruns: 4 }, humans: { max_overrides: 2, max_questions: 0 } }),
      is: { loops: 7, steps: 14, attempts: 14 },
    },
    { what: 'steps are capped', got: bound(9, BARE, { budget: { max_steps: 5 } }), is: { steps: 5, attempts: 5 } },
    {
      what: 'attempts = steps × (1 + largest limit + worker_lost) + max_questions',
      got: bound(3, BARE, {
        retry: { network: 2, timeout: 6, worker_lost: 4 },
        humans: { max_overrides: 0, max_questions: 5 },
      }),
      is: { steps: 3, attempts: 3 * (1 + 6 + 4) + 5 },
    },
    { what: 'attempts are capped', got: bound(3, { budget: { max_attempts: 2 } }), is: { attempts: 2 } },
    {
      what: 'a given plan needs no model',
      got: bound(3, { budget: { max_cost_micro_usd: 5 } }),
      is: { model_calls: 0, tokens: 0, cost_micro_usd: 0 },
    },
    {
      what: 'an agent that chooses: the policy is the plan',
      got: bound(null, { budget: { max_steps: 6, max_model_calls: 9, max_tokens: 100, max_cost_micro_usd: 77 } }),
      is: { steps: 6, model_calls: 9, tokens: 100, cost_micro_usd: 77 },
    },
    { what: 'without a cap on cost no figure is given', got: bound(null), is: { cost_micro_usd: null } },
    {
      what: 'waiting for people: questions × deadline × (1 + chain)',
      got: bound(1, BARE, { humans: { max_overrides: 0, max_questions: 2, deadline_ms: 1_000, chain: ['a', 'b'] } }),
      is: { wait_ms: 2 * 1_000 * 3 },
    },
    {
      what: 'back-off without jitter: base × factor^(n−1), for each step',
      got: bound(2, BARE, { retry: { network: 3, base_ms: 100, factor: 3 } }),
      is: { wait_ms: 2 * (100 + 300 + 900) },
    },
    {
      what: 'back-off is capped by max_wait_ms',
      got: bound(1, BARE, { retry: { network: 3, base_ms: 100, factor: 3, max_wait_ms: 250 } }),
      is: { wait_ms: 100 + 250 + 250 },
    },
    {
      what: 'a server may ask for max_wait_ms each time',
      got: bound(1, BARE, { retry: { rate_limit: 3, base_ms: 100, max_wait_ms: 5_000 } }),
      is: { wait_ms: 3 * 5_000 },
    },
    {
      what: 'back-off is running time, so max_seconds caps it',
      got: bound(1, BARE, { retry: { rate_limit: 3, max_wait_ms: 60_000 }, budget: { max_seconds: 10 } }),
      is: { wait_ms: 10_000 },
    },
  ])('the limit follows the formula: $what', ({ got, is }) => {
    expect(got).toMatchObject(is);
  });

  it('the limit as a sentence names every figure', () => {
    expect(boundSentence(bound(1))).toMatch(/^At most 59 attempts, 7 steps in 7 passes, .* of waiting\.$/);
    expect(boundSentence(bound(1, BARE))).toBe('At most 1 attempt, 1 step in 1 pass, 0 ms of waiting.');
    const chooses = boundSentence(bound(null, { budget: { max_cost_micro_usd: 1_500_000 } }));
    expect(chooses).toMatch(/80 model calls, 1,000,000 tokens, \$1\.50/);
    expect(bound(1).wait_ms).toBeGreaterThanOrEqual(3 * DAY_MS);
  });
});

describe('for any policy and plan', () => {
  const planLength = fc.option(fc.integer({ min: 1, max: 500 }), { nil: null });

  it('every figure of a limit is a whole number and never negative', () => {
    fc.assert(
      fc.property(anyPolicy, planLength, (patch, length) => {
        for (const [name, figure] of Object.entries(bound(length, patch))) {
          if (name === 'cost_micro_usd' && figure === null) continue;
          expect(`${name} ${figure}: ${Number.isSafeInteger(figure)}`).toBe(`${name} ${figure}: true`);
          expect(figure).toBeGreaterThanOrEqual(0);
        }
      }),
      { numRuns: 1_000 },
    );
  });

  it("a limit never exceeds the policy's budgets, and a longer plan never lowers a figure", () => {
    fc.assert(
      fc.property(anyPolicy, fc.integer({ min: 1, max: 499 }), (patch, length) => {
        const { budget } = mergePolicy(patch);
        const shorter = bound(length, patch);
        const longer = bound(length + 1, patch);
        expect(longer.steps).toBeLessThanOrEqual(budget.max_steps);
        expect(longer.attempts).toBeLessThanOrEqual(budget.max_attempts);
        for (const name of ['loops', 'steps', 'attempts', 'wait_ms'] as const) {
          expect(longer[name]).toBeGreaterThanOrEqual(shorter[name]);
        }
      }),
      { numRuns: 1_000 },
    );
  });
});
