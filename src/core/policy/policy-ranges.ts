import type { Policy } from '../../protocol/schemas/policy.ts';

/** What a number of the policy may be. Workflows have no zod, so it is told here once more; a test holds both together. */
export interface Range {
  min: number;
  max: number;
  whole: boolean;
}
const whole = (min: number, max: number): Range => ({ min, max, whole: true });
const fraction = (min: number, max: number): Range => ({ min, max, whole: false });

const RETRIES = whole(0, 20);
const REPEATS = whole(2, 1_000);
const SHARE = fraction(0, 1);
const DAY_MS = 86_400_000;

type Parts = Omit<Policy, 'mode'>;
type NumbersOf<Part> = { [Key in keyof Part as Part[Key] extends number | null ? Key : never]: Range };
type WordsOf<Part> = { [Key in keyof Part as Part[Key] extends string ? Key : never]: readonly Part[Key][] };

export const RANGES: { [Part in keyof Parts]: NumbersOf<Parts[Part]> } = {
  retry: {
    validation: RETRIES,
    rate_limit: RETRIES,
    network: RETRIES,
    server_error: RETRIES,
    timeout: RETRIES,
    context_length: RETRIES,
    worker_lost: RETRIES,
    unknown_error: RETRIES,
    base_ms: whole(1, 3_600_000),
    factor: fraction(1, 10),
    max_wait_ms: whole(1, DAY_MS),
  },
  failures: { guidance_k: whole(0, 20), guidance_max_chars: whole(200, 8_000), escalate_at: whole(1, 100) },
  loops: { same_outcome: REPEATS, same_error: REPEATS, same_message: REPEATS, cycle_rounds: REPEATS },
  reruns: { max_reruns: whole(0, 100), alignment_threshold: SHARE, drift_threshold: SHARE },
  fatigue: {
    base_increment: SHARE,
    improvement_threshold: SHARE,
    decay_rate: SHARE,
    critical_threshold: SHARE,
    max_fatigue: SHARE,
  },
  bias: { repetition_threshold: whole(1, 100) },
  feedback: { max_refinement_iterations: whole(0, 20), target_score: fraction(0, 10) },
  memory: { similarity_threshold: SHARE },
  budget: {
    max_steps: whole(1, 10_000),
    max_attempts: whole(1, 100_000),
    max_model_calls: whole(0, 100_000),
    max_tokens: whole(0, 1_000_000_000),
    max_cost_micro_usd: whole(0, 1_000_000_000_000),
    max_seconds: whole(1, 31_622_400),
    soft: SHARE,
    near: SHARE,
  },
  humans: {
    max_overrides: whole(0, 100),
    max_questions: whole(0, 100),
    max_feedback: whole(0, 1_000),
    deadline_ms: whole(1, 366 * DAY_MS),
  },
};

export const MODES: readonly Policy['mode'][] = ['enforce', 'guide', 'observe'];
export const WORDS: {
  [Part in keyof Parts as keyof WordsOf<Parts[Part]> extends never ? never : Part]: WordsOf<Parts[Part]>;
} = {
  reruns: { on_guard: ['finalize', 'ask_human'] },
  bias: { scope: ['family', 'global'] },
  memory: { scope: ['agent', 'run', 'global'] },
  humans: { default: ['stop', 'skip', 'deny'] },
};
