import { readFileSync } from 'node:fs';
import { DEFAULT_POLICY } from '../../../../src/protocol/policy.ts';
import { completeLoop } from '../../../../src/core/guardrails/guard-family.ts';
import type { Completed } from '../../../../src/core/guardrails/guard-family.ts';
import type { GuardState } from '../../../../src/core/guardrails/guard-state.ts';
import type { LoopReport, ReviewReport } from '../../../../src/core/guardrails/loop-report.ts';

/** Helpers of this folder's tests: vectors, reports and families in a given position. */
export const AT = '2026-01-01T00:00:00.000Z';
export const LOW: ReviewReport = { alignment_score: 0.7, drift_score: 0.3 };
export const GOOD: ReviewReport = { alignment_score: 0.9, drift_score: 0.1 };
export const policy = DEFAULT_POLICY;

/** The caller names the shape: `const vectors: Vector[] = readVectors(…)`. */
export const readVectors = (name: string) =>
  JSON.parse(readFileSync(new URL(`../../../vectors/${name}`, import.meta.url), 'utf8'));

export function throughJson(state: GuardState): GuardState {
  const copy: GuardState = JSON.parse(JSON.stringify(state));
  return copy;
}

export const report = (loopId: string, review: ReviewReport = LOW, more: Partial<LoopReport> = {}): LoopReport => ({
  loop_id: loopId,
  reflection_status: 'done',
  reflection_result: review,
  ...more,
});

export function complete(state: GuardState | null, body: LoopReport, used = policy): Completed {
  const completed = completeLoop(state, body, used, AT);
  if (!completed.ok) throw new Error(`${completed.problem}: ${completed.detail}`);
  return completed;
}

/** Reports `count` loops of family `x` that do not improve. */
export function afterLowLoops(count: number, used = policy): Completed {
  let completed = complete(null, report('x'), used);
  for (let n = 1; n < count; n += 1) completed = complete(completed.state, report(`x_r${n}`), used);
  return completed;
}

export const withPolicy = (part: {
  [K in keyof typeof policy]?: (typeof policy)[K] extends object ? Partial<(typeof policy)[K]> : (typeof policy)[K];
}): typeof policy => ({
  ...policy,
  ...(part.mode === undefined ? {} : { mode: part.mode }),
  reruns: { ...policy.reruns, ...part.reruns },
  fatigue: { ...policy.fatigue, ...part.fatigue },
  bias: { ...policy.bias, ...part.bias },
  humans: { ...policy.humans, ...part.humans },
});
