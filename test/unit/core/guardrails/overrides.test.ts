/** Overrides through a family: what waits, what is spent, what is refused. */
import { describe, expect, test } from 'vitest';
import { applyOverride, canBeOverridden, listOverrides } from '../../../../src/core/guardrails/family-overrides.ts';
import { completeLoop } from '../../../../src/core/guardrails/guard-family.ts';
import type { GuardState } from '../../../../src/core/guardrails/guard-state.ts';
import type { OverrideRequest } from '../../../../src/core/guardrails/overrides.ts';
import { AT, GOOD, LOW, afterLowLoops, complete, policy, report, withPolicy } from './families.ts';

const LIMIT: OverrideRequest = { override_max_reruns: true, override_by: 'ada' };
const FATIGUE: OverrideRequest = { override_fatigue: true, override_by: 'bob' };
const BOTH: OverrideRequest = { override_max_reruns: true, override_fatigue: true, override_by: 'eve' };

function overridden(state: GuardState, request: OverrideRequest): GuardState {
  const result = applyOverride(state, request, AT);
  if (!result.ok) throw new Error(result.detail);
  return result.state;
}

describe('a pending override', () => {
  test('a pending override waits until its limit would end the run, frees exactly one rerun, and is used up', () => {
    let state = overridden(complete(null, report('x')).state, LIMIT);
    for (const id of ['x_r1', 'x_r2']) state = complete(state, report(id)).state;
    expect(listOverrides(state)).toMatchObject([{ outcome: 'pending', spent_by: null }]);
    state = complete(state, report('x_r3')).state;
    expect(listOverrides(state)).toMatchObject([{ outcome: 'spent', spent_by: 'x_r3', override_by: 'ada' }]);
    const last = complete(state, report('x_r4', { alignment_score: 0.74, drift_score: 0.26 }));
    expect(last.answer.decision_result).toMatchObject({ finalize_reason: 'max_reruns_reached', rerun_count: 4 });
  });

  test('a pending override is not spent by a decision that another guard ends anyway', () => {
    const used = withPolicy({ fatigue: { critical_threshold: 0.45 } });
    const state = overridden(afterLowLoops(3, used).state, LIMIT);
    const last = complete(state, report('x_r3'), used);
    expect(last.answer.decision_result).toMatchObject({ finalize_reason: 'fatigue_threshold_exceeded' });
    expect(listOverrides(last.state)).toMatchObject([{ outcome: 'unused', spent_by: null }]);
  });

  test('a second override of the same limit is answered already_pending, kept in the audit, and has no effect', () => {
    const first = overridden(afterLowLoops(3).state, LIMIT);
    const second = applyOverride(first, { ...LIMIT, override_by: 'bob' }, AT);
    expect(second).toMatchObject({ ok: true, answer: { status: 'already_pending', overridden_by: 'bob' } });
    const freed = complete(second.ok ? second.state : first, report('x_r3'));
    expect(freed.answer.decision_result.decision).toBe('rerun');
    expect(listOverrides(freed.state).map((entry) => entry.outcome)).toEqual(['spent', 'already_pending']);
    const last = complete(freed.state, report('x_r4', { alignment_score: 0.74, drift_score: 0.26 }));
    expect(last.answer.decision_result.decision).toBe('finalize');
  });

  test('an override repeated a thousand times does not fill the state', () => {
    let state = overridden(afterLowLoops(1).state, LIMIT);
    for (let n = 0; n < 1_000; n += 1) state = overridden(state, LIMIT);
    expect(state.overrides.entries).toHaveLength(21);
    expect(state.overrides.already_pending_left_out).toBe(980);
  });

  test('an override with two flags is one override: the rerun it frees uses up both', () => {
    const used = withPolicy({ humans: { max_overrides: 1 }, fatigue: { base_increment: 0.2 } });
    const freed = complete(overridden(afterLowLoops(3, used).state, BOTH), report('x_r3'), used);
    expect(freed.answer.decision_result.decision).toBe('rerun');
    expect(applyOverride(freed.state, FATIGUE, AT)).toMatchObject({ ok: false, problem: 'max_overrides' });
    expect(complete(freed.state, report('x_r4'), used).answer.decision_result.decision).toBe('finalize');
  });

  test('an override with two flags, one of them already pending, takes the other and says so', () => {
    const state = overridden(afterLowLoops(1).state, LIMIT);
    const result = applyOverride(state, BOTH, AT);
    expect(result).toMatchObject({ ok: true, answer: { status: 'success', already_pending: ['max_reruns'] } });
  });
});

describe('flags inside a report', () => {
  test('override flags in a report apply to that decision alone', () => {
    const early = complete(null, report('x', LOW, LIMIT)).state;
    let state = early;
    for (const id of ['x_r1', 'x_r2']) state = complete(state, report(id)).state;
    expect(complete(state, report('x_r3')).answer.decision_result).toMatchObject({
      finalize_reason: 'max_reruns_reached',
    });
    expect(listOverrides(state)).toMatchObject([{ via: 'loop_complete', outcome: 'unused' }]);
  });

  test('override flags in a report are used before a pending override, which keeps waiting', () => {
    const state = overridden(afterLowLoops(3).state, LIMIT);
    const freed = complete(state, report('x_r3', LOW, { ...LIMIT, override_by: 'carl' }));
    expect(listOverrides(freed.state).map(({ override_by, outcome }) => [override_by, outcome])).toEqual([
      ['ada', 'pending'],
      ['carl', 'spent'],
    ]);
  });

  test('override flags beyond max_overrides have no effect: the guard ends the family and the audit says refused', () => {
    const used = withPolicy({ humans: { max_overrides: 1 }, fatigue: { base_increment: 0 } });
    const once = complete(afterLowLoops(3, used).state, report('x_r3', LOW, LIMIT), used);
    const twice = complete(once.state, report('x_r4', LOW, LIMIT), used);
    expect(twice.answer.decision_result).toMatchObject({ finalize_reason: 'max_reruns_reached', force_finalize: true });
    expect(listOverrides(twice.state).map((entry) => entry.outcome)).toEqual(['spent', 'refused']);
  });

  test('override flags without a name are refused and change nothing', () => {
    const flags = { override_fatigue: true, override_by: null };
    expect(completeLoop(null, report('x', LOW, flags), policy, AT)).toMatchObject({
      problem: 'invalid_report',
      errors: [{ path: '$.override_by' }],
    });
  });
});

describe('an override is refused', () => {
  test('an override is refused beyond max_overrides, for an unknown loop and after the end', () => {
    const { state } = afterLowLoops(1);
    const problem = (from: GuardState, request: OverrideRequest, loopId?: string) => {
      const result = applyOverride(from, request, AT, loopId);
      return result.ok ? null : result.problem;
    };
    expect(problem(state, LIMIT, 'y')).toBe('unknown_loop');
    expect(problem(afterLowLoops(1, withPolicy({ humans: { max_overrides: 0 } })).state, LIMIT)).toBe('max_overrides');
    expect(problem(complete(state, report('x_r1', GOOD)).state, LIMIT)).toBe('ended');
  });
});

describe('a run that asks a person before a guard ends it', () => {
  test('a run can ask a person about the rerun limit and about fatigue, not about bias echo or with no override left', () => {
    const { state } = afterLowLoops(3);
    expect(canBeOverridden(state, complete(state, report('x_r3')).answer)).toBe(true);
    expect(canBeOverridden(state, complete(state, report('x_r3', GOOD)).answer)).toBe(false);
    const strict = withPolicy({ bias: { repetition_threshold: 1 } });
    const echo = complete(state, report('x_r3', { ...LOW, bias_tags: ['haste'] }), strict);
    expect(canBeOverridden(state, echo.answer)).toBe(false);
    const none = afterLowLoops(3, withPolicy({ humans: { max_overrides: 0 } })).state;
    expect(canBeOverridden(none, complete(none, report('x_r3')).answer)).toBe(false);
  });
});
