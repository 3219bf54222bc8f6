import type { PolicyPatch } from '../../../protocol/schemas/policy.ts';
import type { Dice } from './dice.ts';

/** Draws a valid policy from the ranges that people use and slightly beyond, with small and large budgets. */
export function drawPolicy(dice: Dice): PolicyPatch {
  return {
    mode: dice.pick(['enforce', 'guide', 'observe'] as const),
    retry: {
      validation: dice.int(0, 5),
      rate_limit: dice.int(0, 5),
      network: dice.int(0, 5),
      server_error: dice.int(0, 5),
      timeout: dice.int(0, 5),
      context_length: dice.int(0, 5),
      worker_lost: dice.int(0, 3),
      unknown_error: dice.int(0, 5),
      base_ms: dice.int(1, 2_000),
      factor: dice.pick([1, 1.5, 2, 3, 10]),
      max_wait_ms: dice.int(1, 60_000),
    },
    failures: { escalate_at: dice.int(1, 5) },
    reruns: {
      max_reruns: dice.chance(0.5) ? dice.int(0, 3) : dice.int(0, 10),
      on_guard: dice.pick(['finalize', 'ask_human'] as const),
      ...(dice.chance(0.2) && { alignment_threshold: dice.share(), drift_threshold: dice.share() }),
    },
    ...(dice.chance(0.3) && { fatigue: { critical_threshold: dice.share() } }),
    budget: {
      max_steps: dice.chance(0.35) ? dice.int(1, 15) : dice.int(15, 50),
      max_attempts: dice.chance(0.35) ? dice.int(1, 40) : dice.int(40, 200),
      max_model_calls: dice.chance(0.7) ? dice.int(0, 12) : dice.int(12, 40),
      max_tokens: dice.chance(0.5) ? dice.int(0, 5_000) : 1_000_000,
      max_cost_micro_usd: dice.pick([null, dice.int(0, 5_000), 10_000_000]),
      max_seconds: dice.chance(0.3) ? dice.int(1, 60) : dice.pick([86_400, 31_622_400]),
    },
    humans: {
      max_overrides: dice.int(0, 3),
      max_questions: dice.int(0, 3),
      max_feedback: dice.int(0, 3),
      deadline_ms: dice.int(1, 600_000),
      chain: dice.pick([[], ['lead'], ['lead', 'boss']]),
      default: dice.pick(['stop', 'skip', 'deny'] as const),
    },
  };
}
