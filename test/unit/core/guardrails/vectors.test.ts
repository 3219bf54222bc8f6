/** Every number of fatigue.json and families.json through the pure core. */
import { describe, expect, test } from 'vitest';
import { scoreFatigue } from '../../../../src/core/guardrails/fatigue.ts';
import type { FatigueResult, Scores } from '../../../../src/core/guardrails/fatigue.ts';
import type { GuardState } from '../../../../src/core/guardrails/guard-state.ts';
import type { LoopReport, ReviewReport } from '../../../../src/core/guardrails/loop-report.ts';
import { complete, policy, readVectors, report, throughJson } from './families.ts';

type FatigueVector = Scores &
  Pick<
    FatigueResult,
    'previous_fatigue' | 'reflection_fatigue' | 'fatigue_increased' | 'improvement_detected' | 'threshold_exceeded'
  >;
type Flags = Pick<LoopReport, 'override_fatigue' | 'override_max_reruns' | 'override_by'>;
type LoopVector = ReviewReport & Flags & { loop_id: string; expect: Record<string, unknown> };
interface FamilyVector {
  family: string;
  max_reruns: number;
  loops: LoopVector[];
}

describe('fatigue.json', () => {
  const sequences: FatigueVector[][] = readVectors('fatigue.json');
  sequences.forEach((loops, sequence) => {
    test(`sequence ${sequence + 1} gives the same fatigue, loop by loop`, () => {
      loops.forEach((vector, position) => {
        const { alignment_score, drift_score, ...expected } = vector;
        const previous = loops[position - 1] ?? null;
        const scored = scoreFatigue(
          { alignment_score, drift_score },
          previous,
          vector.previous_fatigue,
          policy.fatigue,
        );
        expect(scored).toMatchObject(expected);
      });
    });
  });
});

describe('families.json', () => {
  const families: FamilyVector[] = readVectors('families.json');
  test.each(families)('$family gives the same decisions', ({ max_reruns, loops }) => {
    let state: GuardState | null = null;
    for (const vector of loops) {
      const { loop_id, expect: expected, override_fatigue, override_max_reruns, override_by, ...review } = vector;
      const flags = Object.fromEntries(
        Object.entries({ override_fatigue, override_max_reruns, override_by }).filter(([, flag]) => flag !== undefined),
      );
      const completed = complete(state, report(loop_id, review, { max_reruns, ...flags }));
      const { reflection_result: reflection, decision_result: decision } = completed.answer;
      const told = {
        reflection_fatigue: reflection.reflection_fatigue,
        repeated_tags: reflection.repeated_tags,
        bias_echo: reflection.bias_echo,
        rerun_trigger: decision.rerun_trigger,
        decision: decision.decision,
        reason: decision.decision === 'rerun' ? decision.rerun_reason : decision.finalize_reason,
        force_finalize: decision.force_finalize,
        ...(decision.decision === 'rerun'
          ? { new_loop_id: decision.new_loop_id, rerun_number: decision.rerun_number }
          : {}),
        rerun_count: decision.rerun_count,
        max_reruns: decision.max_reruns,
      };
      expect(told).toEqual(expected);
      state = throughJson(completed.state);
    }
    expect(state?.ended).not.toBeNull();
  });
});
