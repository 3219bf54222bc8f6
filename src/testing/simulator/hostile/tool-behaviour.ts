import { maxRetriesPerStep, retryLimit, strategyOf, TOOL_CATEGORIES } from '../../../core/retry/strategies.ts';
import { maxWait } from '../../../core/retry/backoff.ts';
import { FAILURE_CATEGORIES, type FailureCategory } from '../../../protocol/failure-categories.ts';
import type { Policy } from '../../../protocol/schemas/policy.ts';
import type { Certainty } from '../../../protocol/tools.ts';
import { createDice } from './dice.ts';
import { DICE, type Scene } from './scene.ts';

/** How one attempt of a tool ends. */
export type Behaviour = { kind: 'ok'; output: number | string } | { kind: 'bad_output' } | Failing;
export interface Failing {
  kind: 'fail';
  category: FailureCategory;
  /** Undefined: the tool does not state it, as any error that is not a `ToolError`. */
  certainty: Certainty | undefined;
  code: string;
  message: string;
  retryAfterMs?: number;
}

/** Too large to travel inline, so that some outputs go to the store. */
export const LARGE_OUTPUT = 'x'.repeat(9_000);

/** Depends only on seed, step and attempt, whoever asks and in whatever order. */
export function drawBehaviour(scene: Scene, stepId: number, attempt: number): Behaviour {
  const { tools, badness, deploys } = scene.character;
  const dice = createDice(scene.seed, DICE.tool, stepId, attempt);
  const output = dice.chance(0.02) ? LARGE_OUTPUT : dice.int(0, 9);
  if (tools === 'relentless') return failUntilLast(scene, stepId, attempt) ?? { kind: 'ok', output };
  if (dice.share() >= (tools === 'kind' ? 0.05 : badness)) return { kind: 'ok', output };
  if (dice.chance(0.05)) return { kind: 'bad_output' };
  const category = dice.pick(deploys ? FAILURE_CATEGORIES : TOOL_CATEGORIES);
  return {
    kind: 'fail',
    category,
    certainty: dice.pick(['not_started', 'failed', 'failed', 'unknown', undefined] as const),
    code: dice.pick(['A', 'B', category.toUpperCase()]),
    message: `it broke ${dice.int(0, 3)}`,
    // Sometimes longer than the policy's longest wait; then the step is given up.
    ...(dice.chance(0.3) && { retryAfterMs: dice.int(0, Math.ceil(scene.policy.retry.max_wait_ms * 1.3)) }),
  };
}

/** Whether the attempt took effect, as far as its tool has one: a success did, and one that failed without a word may have. */
export function tookEffect(scene: Scene, stepId: number, attempt: number): boolean {
  const behaviour = drawBehaviour(scene, stepId, attempt);
  if (behaviour.kind !== 'fail') return true;
  const isOpen = behaviour.certainty === undefined || behaviour.certainty === 'unknown';
  return isOpen && createDice(scene.seed, DICE.tool, stepId, attempt, 3).chance(0.5);
}

/** What the tool finds out about the attempt: the truth, if it can tell. */
export function reconcileVerdict(scene: Scene, stepId: number, attempt: number): 'done' | 'not_done' | 'unknown' {
  if (createDice(scene.seed, DICE.tool, stepId, attempt, 1).chance(1 / 3)) return 'unknown';
  return tookEffect(scene, stepId, attempt) ? 'done' : 'not_done';
}

/**
 * Fails every attempt that the step can have, each after the longest wait, and lets the last one succeed, so that the
 * run continues. As many steps as there are questions take one more attempt, after a person's answer.
 */
export function failUntilLast({ policy, character }: Scene, stepId: number, attempt: number): Failing | null {
  const retries = maxRetriesPerStep(policy.retry);
  const most = 1 + retries + (character.deploys ? policy.retry.worker_lost : 0);
  const certainty = 'failed';
  if (attempt <= retries) {
    const category = slowest(policy.retry, attempt);
    const asks = strategyOf(category).backoff === 'retry_after';
    const retryAfterMs = policy.retry.max_wait_ms;
    const told = { category, certainty, code: 'AGAIN', message: `again ${attempt}` } as const;
    return { kind: 'fail', ...told, ...(asks && { retryAfterMs }) };
  }
  if (attempt < most) return { kind: 'fail', category: 'not_registered', certainty, code: 'LOST', message: 'lost' };
  if (attempt > most || stepId > policy.humans.max_questions) return null;
  return { kind: 'fail', category: 'auth', certainty, code: 'ASK', message: 'a person has to help' };
}

/** Of the categories that still allow this retry, the one with the longest wait. */
function slowest(retry: Policy['retry'], nth: number): FailureCategory {
  const allowed = TOOL_CATEGORIES.filter((category) => retryLimit(category, retry) >= nth);
  const waits = (category: FailureCategory): number => maxWait(category, nth, retry);
  return allowed.reduce((most, category) => (waits(category) > waits(most) ? category : most), allowed[0] ?? 'auth');
}
