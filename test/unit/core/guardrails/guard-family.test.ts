/** A family as a state machine: order, repetition, trace, status, modes. */
import { describe, expect, test } from 'vitest';
import { buildLoopAnswer } from '../../../../src/core/guardrails/loop-answer.ts';
import { beginReview, closeFamily, openFamily } from '../../../../src/core/guardrails/guard-state.ts';
import { completeLoop } from '../../../../src/core/guardrails/guard-family.ts';
import { checkReport } from '../../../../src/core/guardrails/loop-report.ts';
import { familyOf } from '../../../../src/core/guardrails/loop-ids.ts';
import { buildGuardrailsStatus } from '../../../../src/core/guardrails/guardrails-status.ts';
import { buildLoopTrace } from '../../../../src/core/guardrails/loop-trace.ts';
import type { GuardState } from '../../../../src/core/guardrails/guard-state.ts';
import type { LoopReport } from '../../../../src/core/guardrails/loop-report.ts';
import { AT, GOOD, LOW, afterLowLoops, complete, policy, report, withPolicy } from './families.ts';

const LATER = '2026-01-02T00:00:00.000Z';
const problemOf = (state: GuardState | null, body: LoopReport) => {
  const result = completeLoop(state, body, policy, LATER);
  return result.ok ? null : result.problem;
};

describe('the same report', () => {
  test('the same report gets the same answer, also later and after the end, whatever the order of its keys', () => {
    const first = complete(null, report('x'));
    const ended = complete(first.state, report('x_r1', GOOD));
    const { loop_id, reflection_status, reflection_result } = report('x');
    const turned = { reflection_result, reflection_status, loop_id };
    const again = completeLoop(ended.state, turned, policy, LATER);
    expect(again).toEqual({ ok: true, state: ended.state, answer: first.answer, repeated: true });
  });

  test('a report of the same loop with another body is a conflict', () => {
    expect(problemOf(afterLowLoops(1).state, report('x', GOOD))).toBe('other_body');
  });

  test('a repeated report is recognized by its original body when a reviewer judged it later', () => {
    const asked = completeLoop(null, report('x'), policy, AT, { bodyHash: 'asked' });
    const state = asked.ok ? asked.state : null;
    expect(completeLoop(state, report('x', GOOD), policy, LATER, { bodyHash: 'asked' })).toMatchObject({
      repeated: true,
      answer: { decision_result: { decision: 'rerun' } },
    });
  });
});

describe('a report is refused', () => {
  test('a report is refused out of order, in another family, after the end, or as a rerun that nothing opened', () => {
    const { state } = afterLowLoops(1);
    expect(problemOf(state, report('x_r2'))).toBe('out_of_order');
    expect(problemOf(state, report('x_r01'))).toBe('out_of_order');
    expect(problemOf(state, report('y'))).toBe('other_family');
    expect(problemOf(null, report('x_r1'))).toBe('not_a_first_loop');
    expect(problemOf(complete(state, report('x_r1', GOOD)).state, report('x_r2'))).toBe('ended');
    expect(problemOf(closeFamily(state, AT), report('x_r1'))).toBe('ended');
  });

  test('a report is refused with another max_reruns than the first report had', () => {
    const { state } = complete(null, report('x', LOW, { max_reruns: 5 }));
    expect(problemOf(state, report('x_r1', LOW, { max_reruns: 6 }))).toBe('max_reruns_fixed');
    expect(problemOf(state, report('x_r1', LOW, { max_reruns: 5 }))).toBeNull();
    expect(problemOf(state, report('x_r1'))).toBeNull();
  });

  test('a report is refused without a review, or with an invalid one', () => {
    expect(problemOf(null, { loop_id: 'x', reflection_status: 'done' })).toBe('review_missing');
    for (const alignment_score of [-0.1, 1.1, Number.NaN, '0.5', null]) {
      const body = { ...report('x'), reflection_result: { ...LOW, alignment_score } };
      expect(checkReport(body)).toMatchObject([{ path: '$.reflection_result.alignment_score' }]);
    }
    expect(checkReport({ ...report('x'), reflection_result: { ...LOW, bias_tags: [5] } })).toHaveLength(1);
    expect(checkReport(null)).toEqual([{ path: '$', message: 'expected an object' }]);
  });
});

describe('the trace', () => {
  test('the trace has every loop with its status, its depth and the loop before it', () => {
    const { state } = complete(afterLowLoops(2).state, report('x_r2', GOOD));
    expect(buildLoopTrace(state)).toMatchObject([
      { loop_id: 'x', status: 'rerun', rerun_of: null, rerun_depth: 0, rerun_count: 1 },
      { loop_id: 'x_r1', status: 'rerun', rerun_of: 'x', rerun_depth: 1, rerun_count: 2 },
      { loop_id: 'x_r2', status: 'finalized', rerun_of: 'x_r1', rerun_depth: 2, finalize_reason: 'thresholds_met' },
    ]);
  });

  test('the trace has for every rerun what triggered it, why, who judged it and who overrode', () => {
    const review = { ...LOW, reflection_persona: 'SAGE' };
    const flags = { override_max_reruns: true, override_by: 'operator' };
    const { state } = complete(null, report('x', review, { max_reruns: 0, ...flags }));
    expect(buildLoopTrace(state)[0]).toMatchObject({
      overridden_by: 'operator',
      orchestrator_persona: 'SAGE',
      reasoning: {
        rerun_trigger: ['alignment', 'drift'],
        rerun_reason: 'alignment_threshold_not_met',
        rerun_reason_detail: 'Triggered by alignment, drift',
        timestamp: AT,
        reflection_persona: 'SAGE',
        overridden_by: 'operator',
      },
    });
  });

  test('the trace shows a loop as running, then as reviewing, and as finalized when the run ended during it', () => {
    const opened = openFamily('x', { max_reruns: 3, max_overrides: 3 }, AT);
    if (!opened.ok) throw new Error(opened.detail);
    expect(buildLoopTrace(opened.state)[0]?.status).toBe('running');
    expect(buildLoopTrace(beginReview(opened.state))[0]?.status).toBe('reviewing');
    expect(buildLoopTrace(closeFamily(opened.state, AT))[0]?.status).toBe('finalized');
    expect(buildLoopAnswer(opened.state, 'x')).toMatchObject({ ok: false, problem: 'loop_running' });
    expect(buildLoopAnswer(opened.state, 'y')).toMatchObject({ ok: false, problem: 'unknown_loop' });
  });
});

describe('the guardrails status', () => {
  test('the status of a loop that was announced but not reported has null scores and the counts of the family', () => {
    expect(buildGuardrailsStatus(afterLowLoops(2).state)).toMatchObject({
      loop_id: 'x_r2',
      rerun_count: 2,
      alignment_score: null,
      drift_score: null,
      summary_valid: null,
      rerun_reason: null,
      reflection_fatigue: 0.15,
      finalize_reason: null,
    });
  });

  test('the status shows the end of the family for any of its loops, and does not exist for other loops', () => {
    const { state } = afterLowLoops(4);
    for (const loopId of ['x', 'x_r3']) {
      expect(buildGuardrailsStatus(state, loopId)).toMatchObject({
        rerun_count: 3,
        rerun_limit_reached: true,
        finalize_reason: 'max_reruns_reached',
        force_finalize: true,
      });
    }
    expect(buildGuardrailsStatus(state, 'x_r4')).toBeNull();
  });
});

describe('bias across families', () => {
  const tagged = report('x', { ...LOW, bias_tags: [' optimism ', { tag: 'optimism' }, 'Optimism', ''] });
  const elsewhere = { biasElsewhere: { optimism: 2 } };

  test('bias in other families does not end this one by default', () => {
    expect(completeLoop(null, tagged, policy, AT, elsewhere)).toMatchObject({
      answer: { reflection_result: { bias_echo: false, repetition_counts: { optimism: 1, Optimism: 1 } } },
    });
  });

  test('bias in other families counts where the policy counts globally', () => {
    const global = withPolicy({ bias: { scope: 'global' } });
    expect(completeLoop(null, tagged, global, AT, elsewhere)).toMatchObject({
      answer: {
        reflection_result: { repeated_tags: ['optimism'], repetition_counts: { optimism: 3, Optimism: 1 } },
        decision_result: { finalize_reason: 'bias_echo' },
      },
    });
  });

  test('a tag that is named like a member of every object is counted', () => {
    const odd = report('x', { ...LOW, bias_tags: ['__proto__', 'constructor'] });
    const { answer } = complete(null, odd);
    expect(JSON.stringify(answer.reflection_result.repetition_counts)).toBe('{"__proto__":1,"constructor":1}');
  });
});

describe('outside the mode enforce', () => {
  test('outside the mode enforce fatigue and bias are reported and stop nothing; the rerun limit still ends the family', () => {
    const used = withPolicy({ mode: 'observe', reruns: { max_reruns: 6 } });
    const tired = afterLowLoops(6, used);
    expect(tired.answer.decision_result.decision).toBe('rerun');
    expect(buildLoopTrace(tired.state)[5]?.rerun_reason_detail).toBe(
      'Triggered by alignment, drift; only observed: fatigue_threshold_exceeded',
    );
    expect(complete(tired.state, report('x_r6'), used).answer.decision_result).toMatchObject({
      finalize_reason: 'max_reruns_reached',
    });
  });
});

describe('loop ids', () => {
  test('loop ids stay within 128 characters, and every rerun leads back to its family', () => {
    const longest = 'a'.repeat(128);
    const first = complete(null, report(longest));
    const rerun = first.state.loops[1]?.loop_id ?? '';
    expect(rerun.length).toBeLessThanOrEqual(128);
    expect(familyOf(rerun)).toBe(familyOf(longest));
    expect(first.answer.decision_result.original_loop_id).toBe(longest);
    expect(complete(first.state, report(rerun)).answer.decision_result.rerun_count).toBe(2);
  });

  test.each([
    ['x', 'x'],
    ['x_r2', 'x'],
    ['x_r12', 'x'],
    ['x_r', 'x_r'],
    ['x_r2a', 'x_r2a'],
  ])('the family of %s is %s', (id, family) => {
    expect(familyOf(id)).toBe(family);
  });
});
