import type { PolicyPatch } from '../../../protocol/schemas/policy.ts';
import type { Dice } from './dice.ts';

/** Draws a valid policy from the ranges that people use and slightly beyond, with small and large budgets. */
export function drawPolicy(dice: Dice): PolicyPatch {
  const { int, pick, chance } = dice;
  return {
    mode: pick(['enforce', 'guide', 'observe'] as const),
    retry: {
      validation: int(0, 5),
      rate_limit: int(0, 5),
      network: int(0, 5),
      server_error: int(0, 5),
      timeout: int(0, 5),
      context_length: int(0, 5),
      worker_lost: int(0, 3),
      unknown_error: int(0, 5),
      base_ms: int(1, 2_000),
      factor: pick([1, 1.5, 2, 3, 10]),
      max_wait_ms: int(1, 60_000),
    },
    failures: { escalate_at: int(1, 5) },
    reruns: {
      max_reruns: chance(0.5) ? int(0, 3) : int(0, 10),
      on_guard: pick(['finalize', 'ask_human'] as const),
      ...(chance(0.2) && { alignment_threshold: dice.share(), drift_threshold: dice.share() }),
    },
    ...(chance(0.3) && { fatigue: { critical_threshold: dice.share() } }),
    budget: {
      max_steps: chance(0.35) ? int(1, 15) : int(15, 50),
      max_attempts: chance(0.35) ? int(1, 40) : int(40, 200),
      max_model_calls: chance(0.7) ? int(0, 12) : int(12, 40),
      max_tokens: chance(0.5) ? int(0, 5_000) : 1_000_000,
      max_cost_micro_usd: pick([null, int(0, 5_000), 10_000_000]),
      max_seconds: chance(0.3) ? int(1, 60) : pick([86_400, 31_622_400]),
    },
    humans: {
      max_overrides: int(0, 3),
      max_questions: int(0, 3),
      max_feedback: int(0, 3),
      deadline_ms: int(1, 600_000),
      chain: pick([[], ['lead'], ['lead', 'boss']]),
      default: pick(['stop', 'skip', 'deny'] as const),
    },
  };
}
