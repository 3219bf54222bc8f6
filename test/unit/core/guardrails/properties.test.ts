/** What holds for any policy and any sequence of reports and overrides. */
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { buildLoopAnswer } from '../../../../src/core/guardrails/loop-answer.ts';
import { answerFromTrace, statusFromTrace } from '../../../../src/core/guardrails/trace-views.ts';
import { applyOverride, listOverrides } from '../../../../src/core/guardrails/family-overrides.ts';
import { completeLoop } from '../../../../src/core/guardrails/guard-family.ts';
import { currentLoop, rerunCount } from '../../../../src/core/guardrails/guard-state.ts';
import { decimal, minus, plus, toFixedHalfEven, toNumber } from '../../../../src/core/guardrails/decimal.ts';
import { buildGuardrailsStatus } from '../../../../src/core/guardrails/guardrails-status.ts';
import { buildLoopTrace } from '../../../../src/core/guardrails/loop-trace.ts';
import { scoreFatigue } from '../../../../src/core/guardrails/fatigue.ts';
import type { GuardState } from '../../../../src/core/guardrails/guard-state.ts';
import type { LoopReport, ReviewReport } from '../../../../src/core/guardrails/loop-report.ts';
import type { OverrideFlags } from '../../../../src/core/guardrails/overrides.ts';
import { parseMessage } from '../../../../src/protocol/messages.ts';
import type { ReasonedTraceItem } from '../../../../src/core/guardrails/loop-trace.ts';
import { AT, report, throughJson, withPolicy } from './families.ts';

const score = fc.integer({ min: 0, max: 100 }).map((hundredths) => hundredths / 100);
const flags = fc.record({ override_fatigue: fc.boolean(), override_max_reruns: fc.boolean() });
const review = fc.record({
  alignment_score: score,
  drift_score: score,
  summary_valid: fc.boolean(),
  bias_tags: fc.array(fc.constantFrom('a', 'b', ' a', '__proto__', 'c'), { maxLength: 3 }),
});
const policies = fc
  .record({
    mode: fc.constantFrom('enforce' as const, 'guide' as const, 'observe' as const),
    max_reruns: fc.integer({ min: 0, max: 6 }),
    max_overrides: fc.integer({ min: 0, max: 4 }),
    fatigue: fc.record({
      base_increment: score,
      improvement_threshold: score,
      decay_rate: score,
      critical_threshold: score,
      max_fatigue: score,
    }),
    repetition_threshold: fc.integer({ min: 1, max: 5 }),
  })
  .map(({ mode, max_reruns, max_overrides, fatigue, repetition_threshold }) =>
    withPolicy({
      mode,
      reruns: { max_reruns },
      humans: { max_overrides },
      fatigue,
      bias: { repetition_threshold },
    }),
  );
const events = fc.array(fc.record({ review, flags, override: fc.option(flags) }), { minLength: 20, maxLength: 20 });
/** Reviewers are never satisfied, nothing improves and everyone overrides both bounds all the time. */
const both = fc.constant({ override_fatigue: true, override_max_reruns: true });
const hostile = fc.array(
  fc.record({
    review: fc.record({ alignment_score: fc.constant(0.1), drift_score: score }),
    flags: fc.oneof(both, flags),
    override: fc.option(both, { freq: 20 }),
  }),
  { minLength: 20, maxLength: 20 },
);

interface Event {
  review: ReviewReport;
  flags: OverrideFlags;
  override: OverrideFlags | null;
}

interface Step {
  before: GuardState | null;
  after: GuardState;
  body: LoopReport;
}

/** Plays the events until the family ends; every state goes through JSON before it is used. */
function play(policy: ReturnType<typeof withPolicy>, played: readonly Event[]) {
  const steps: Step[] = [];
  let state: GuardState | null = null;
  for (const event of played) {
    const before: GuardState | null = state;
    const loopId: string = before === null ? 'x' : currentLoop(before).loop_id;
    const body = report(loopId, event.review, { ...event.flags, override_by: 'someone' });
    const completed = completeLoop(before, body, policy, AT);
    if (!completed.ok) throw new Error(`${completed.problem}: ${completed.detail}`);
    steps.push({ before, after: completed.state, body });
    state = throughJson(completed.state);
    if (state.ended !== null) break;
    const request = event.override && parseMessage('override', { ...event.override, override_by: 'someone else' });
    const overridden = request?.ok ? applyOverride(state, request.message, AT) : null;
    if (overridden?.ok) state = throughJson(overridden.state);
  }
  return steps;
}

const spent = (state: GuardState | null) =>
  state?.overrides.entries.filter((entry) => entry.outcome === 'spent').length ?? 0;

describe('any sequence of reports and overrides', () => {
  test('any family ends within 1 + max_reruns + max_overrides loops, in every mode, and some reach that limit', () => {
    let reached = 0;
    fc.assert(
      fc.property(policies, fc.oneof(hostile, events), (policy, played) => {
        const last = play(policy, played).at(-1)?.after;
        const bound = 1 + policy.reruns.max_reruns + policy.humans.max_overrides;
        expect(last?.ended).not.toBeNull();
        expect(last?.loops.length).toBeLessThanOrEqual(bound);
        if (last?.loops.length === bound) reached += 1;
      }),
      { numRuns: 500 },
    );
    expect(reached).toBeGreaterThan(0);
  });

  test('the state of any family is plain JSON after every report', () => {
    fc.assert(
      fc.property(policies, events, (policy, played) => {
        for (const { after } of play(policy, played)) expect(throughJson(after)).toStrictEqual(after);
      }),
      { numRuns: 100 },
    );
  });

  test('an override frees exactly one rerun: without a spent one no rerun passes its bounds', () => {
    fc.assert(
      fc.property(policies, events, (policy, played) => {
        for (const { before, after } of play(policy, played)) {
          const rerun = after.ended === null;
          const beyondLimit = (before === null ? 0 : rerunCount(before)) >= after.max_reruns;
          const newlySpent = spent(after) - spent(before);
          expect(newlySpent).toBeGreaterThanOrEqual(rerun && beyondLimit ? 1 : 0);
          expect(newlySpent).toBeLessThanOrEqual(rerun ? 2 : 0);
        }
      }),
      { numRuns: 300 },
    );
  });

  test('fatigue stays between 0 and its maximum', () => {
    fc.assert(
      fc.property(policies, events, (policy, played) => {
        for (const { after } of play(policy, played)) {
          for (const item of buildLoopTrace(after)) {
            expect(item.reflection_fatigue).toBeGreaterThanOrEqual(0);
            expect(item.reflection_fatigue).toBeLessThanOrEqual(policy.fatigue.max_fatigue);
          }
        }
      }),
      { numRuns: 200 },
    );
  });

  test('the trace contains all that status, answers and audit do, also after serialization to JSON', () => {
    fc.assert(
      fc.property(policies, events, (policy, played) => {
        for (const { after } of play(policy, played)) {
          const trace = JSON.parse(JSON.stringify(buildLoopTrace(after))) as ReasonedTraceItem[];
          for (const { loop_id } of after.loops) {
            const answered = buildLoopAnswer(after, loop_id);
            expect(statusFromTrace(trace, loop_id)).toEqual(buildGuardrailsStatus(after, loop_id));
            expect(answerFromTrace(trace, loop_id)).toEqual(answered.ok ? answered.answer : null);
          }
          expect(statusFromTrace(trace, 'unknown')).toBeNull();
          expect(trace.flatMap((item) => item.overrides)).toHaveLength(listOverrides(after).length);
        }
      }),
      { numRuns: 200 },
    );
  });

  test('a repeated report gets the same answer at every later point, and changes no count', () => {
    fc.assert(
      fc.property(policies, events, (policy, played) => {
        const steps = play(policy, played);
        const last = steps.at(-1)?.after ?? null;
        for (const { after, body } of steps) {
          const then = completeLoop(after, body, policy, AT);
          const now = completeLoop(last, body, policy, 'later');
          expect(then.ok && now.ok && now.answer).toEqual(then.ok && then.answer);
          expect(now.ok && now.state).toEqual(last);
        }
        expect(last && buildGuardrailsStatus(last)?.rerun_count).toBe(last && rerunCount(last));
      }),
      { numRuns: 100 },
    );
  });
});

describe('scores are decimal', () => {
  test('0.25 to 0.20 is an improvement of 0.05, and three times 0.15 is 0.45', () => {
    expect(toNumber(minus(decimal(0.25), decimal(0.2)))).toBe(0.05);
    expect(toNumber(plus(plus(decimal(0.15), decimal(0.15)), decimal(0.15)))).toBe(0.45);
  });

  test('a step of exactly the threshold is an improvement, a smaller one is not', () => {
    const fatigue = withPolicy({}).fatigue;
    fc.assert(
      fc.property(fc.integer({ min: 5_000, max: 100_000 }), (n) => {
        const before = { alignment_score: 0.5, drift_score: n / 100_000 };
        const exactly = { alignment_score: 0.5, drift_score: (n - 5_000) / 100_000 };
        const short = { alignment_score: 0.5, drift_score: (n - 4_999) / 100_000 };
        expect(scoreFatigue(exactly, before, 0, fatigue).improvement_detected).toBe(true);
        expect(scoreFatigue(short, before, 0, fatigue).improvement_detected).toBe(false);
      }),
    );
  });

  test('decimals keep every finite number, with any exponent, and sums are exact', () => {
    fc.assert(
      fc.property(
        fc.double({ noDefaultInfinity: true, noNaN: true }),
        fc.double({ min: -1, max: 1, noNaN: true }),
        (a, b) => {
          expect(toNumber(decimal(a))).toBe(a === 0 ? 0 : a);
          expect(toNumber(minus(plus(decimal(a), decimal(b)), decimal(b)))).toBe(a === 0 ? 0 : a);
        },
      ),
    );
  });

  test.each([
    [0.125, '0.12'],
    [0.135, '0.14'],
    [0.375, '0.38'],
    [1, '1.00'],
    [0.3, '0.30'],
    [-0.125, '-0.12'],
    [1e-7, '0.00'],
    [12.345, '12.34'],
  ])('%d with two digits is %s: a half goes to the even neighbour', (value, text) => {
    expect(toFixedHalfEven(decimal(value), 2)).toBe(text);
  });
});
