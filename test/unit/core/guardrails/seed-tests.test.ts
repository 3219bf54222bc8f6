/** The six tests that the source document lists, by its own names. Pure core; no Temporal, no store. */
import { describe, expect, test } from 'vitest';
import { applyOverride } from '../../../../src/core/guardrails/family-overrides.ts';
import { completeLoop } from '../../../../src/core/guardrails/guard-family.ts';
import { detectBiasEcho } from '../../../../src/core/guardrails/bias-echo.ts';
import { buildGuardrailsStatus } from '../../../../src/core/guardrails/guardrails-status.ts';
import { scoreFatigue } from '../../../../src/core/guardrails/fatigue.ts';
import { AT, LOW, afterLowLoops, complete, policy, report } from './families.ts';

describe('the tests that the source document lists', () => {
  test('process_loop_completion', () => {
    const body = report(
      'loop_001',
      { alignment_score: 0.72, drift_score: 0.28, summary_valid: true, reflection_persona: 'SAGE' },
      { override_fatigue: false, override_max_reruns: false, override_by: null },
    );
    expect(complete(null, body).answer).toEqual({
      status: 'success',
      loop_id: 'loop_001',
      reflection_result: {
        alignment_score: 0.72,
        drift_score: 0.28,
        summary_valid: true,
        reflection_persona: 'SAGE',
        bias_echo: false,
        repeated_tags: [],
        repetition_counts: {},
        reflection_fatigue: 0,
        fatigue_increased: false,
      },
      decision_result: {
        decision: 'rerun',
        original_loop_id: 'loop_001',
        new_loop_id: 'loop_001_r1',
        rerun_reason: 'alignment_threshold_not_met',
        rerun_trigger: ['alignment', 'drift'],
        rerun_number: 1,
        rerun_count: 1,
        max_reruns: 3,
        force_finalize: false,
      },
      orchestrator_persona: 'SAGE',
      timestamp: AT,
    });
    expect(completeLoop(null, { ...body, reflection_status: 'running' }, policy, AT)).toMatchObject({
      ok: false,
      problem: 'invalid_report',
      errors: [{ path: '$.reflection_status' }],
    });
  });

  test('process_loop_completion_with_overrides', () => {
    const atTheLimit = afterLowLoops(3).state;
    const flags = { override_fatigue: true, override_max_reruns: true, override_by: 'operator' };
    const freed = complete(atTheLimit, report('x_r3', LOW, flags));
    expect(freed.answer.decision_result).toMatchObject({ decision: 'rerun', new_loop_id: 'x_r4', rerun_count: 4 });
    expect(complete(atTheLimit, report('x_r3')).answer.decision_result).toEqual({
      decision: 'finalize',
      original_loop_id: 'x',
      finalize_reason: 'max_reruns_reached',
      force_finalize: true,
      rerun_trigger: ['alignment', 'drift'],
      rerun_count: 3,
      max_reruns: 3,
    });
  });

  test('get_guardrails_status', () => {
    const review = { alignment_score: 0.72, drift_score: 0.28, reflection_persona: 'SAGE' };
    const { state } = complete(null, report('loop_001', review));
    expect(buildGuardrailsStatus(state, 'loop_001')).toEqual({
      loop_id: 'loop_001',
      rerun_count: 1,
      max_reruns: 3,
      rerun_limit_reached: false,
      bias_echo: false,
      reflection_fatigue: 0,
      fatigue_threshold_exceeded: false,
      force_finalize: false,
      rerun_reason: 'alignment_threshold_not_met',
      rerun_trigger: ['alignment', 'drift'],
      alignment_score: 0.72,
      drift_score: 0.28,
      summary_valid: true,
      reflection_persona: 'SAGE',
      finalize_reason: null,
    });
  });

  test('override_guardrails', () => {
    const { state } = complete(null, report('loop_001'));
    const request = {
      override_fatigue: true,
      override_max_reruns: false,
      override_by: 'operator',
      override_reason: 'Manual override to continue exploration',
    };
    expect(applyOverride(state, request, AT, 'loop_001')).toMatchObject({
      ok: true,
      answer: {
        status: 'success',
        loop_id: 'loop_001',
        override_fatigue: true,
        override_max_reruns: false,
        overridden_by: 'operator',
        override_reason: 'Manual override to continue exploration',
      },
    });
  });

  test('bias_echo_detection', () => {
    expect(detectBiasEcho(['optimism', 'haste'], [['optimism'], ['optimism', 'anchoring']], null, 3)).toEqual({
      bias_repetition: true,
      repeated_tags: ['optimism'],
      repetition_counts: { optimism: 3, haste: 1 },
      threshold: 3,
      bias_echo: true,
      trigger: 'pessimist',
      action: 'halt_loop',
    });
    expect(detectBiasEcho(['optimism'], [], null, 3)).toMatchObject({ bias_echo: false, trigger: null, action: null });
  });

  test('reflection_fatigue_scoring', () => {
    expect(scoreFatigue(LOW, LOW, 0.45, policy.fatigue)).toEqual({
      reflection_fatigue: 0.6,
      previous_fatigue: 0.45,
      fatigue_increment: 0.15,
      fatigue_increased: true,
      improvement_detected: false,
      threshold_exceeded: true,
      critical_threshold: 0.5,
      force_finalize: true,
    });
  });
});
