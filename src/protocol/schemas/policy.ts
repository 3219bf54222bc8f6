import { z } from 'zod';

const count = (max: number) => z.int().min(0).max(max);
const positive = (max: number) => z.int().min(1).max(max);
const share = z.number().min(0).max(1);

const YEAR_MS = 366 * 86_400_000;

/** One policy, whole. What a person writes is any part of it: `policyPatchSchema`. */
export const policySchema = z.strictObject({
  mode: z.enum(['enforce', 'guide', 'observe']),
  retry: z.strictObject({
    validation: count(20),
    rate_limit: count(20),
    network: count(20),
    server_error: count(20),
    timeout: count(20),
    context_length: count(20),
    worker_lost: count(20),
    unknown_error: count(20),
    base_ms: positive(3_600_000),
    factor: z.number().min(1).max(10),
    max_wait_ms: positive(86_400_000),
    enhance: z.boolean(),
  }),
  failures: z.strictObject({
    guidance_k: count(20),
    guidance_max_chars: z.int().min(200).max(8_000),
    escalate_at: positive(100),
  }),
  loops: z.strictObject({
    same_outcome: z.int().min(2).max(1_000),
    same_error: z.int().min(2).max(1_000),
    same_message: z.int().min(2).max(1_000),
    cycle_rounds: z.int().min(2).max(1_000),
    ignore_tools: z.array(z.string().max(128)).max(100),
  }),
  reruns: z.strictObject({
    max_reruns: count(100),
    alignment_threshold: share,
    drift_threshold: share,
    on_guard: z.enum(['finalize', 'ask_human']),
  }),
  fatigue: z.strictObject({
    base_increment: share,
    improvement_threshold: share,
    decay_rate: share,
    critical_threshold: share,
    max_fatigue: share,
  }),
  bias: z.strictObject({ repetition_threshold: positive(100), scope: z.enum(['family', 'global']) }),
  feedback: z.strictObject({ max_refinement_iterations: count(20), target_score: z.number().min(0).max(10) }),
  memory: z.strictObject({ scope: z.enum(['agent', 'run', 'global']), similarity_threshold: share }),
  budget: z.strictObject({
    max_steps: positive(10_000),
    max_attempts: positive(100_000),
    max_model_calls: count(100_000),
    max_tokens: count(1_000_000_000),
    max_cost_micro_usd: count(1_000_000_000_000).nullable(),
    max_seconds: positive(31_622_400),
    soft: share,
    near: share,
  }),
  humans: z.strictObject({
    max_overrides: count(100),
    max_questions: count(100),
    max_feedback: count(1_000),
    deadline_ms: positive(YEAR_MS),
    chain: z.array(z.string().min(1).max(200)).max(10),
    default: z.enum(['stop', 'skip', 'deny']),
    notify: z.array(z.url().max(2_000)).max(10),
  }),
});
export type Policy = z.infer<typeof policySchema>;

const shape = policySchema.shape;
/** Any part of a policy; unknown keys stay refused at both levels. */
export const policyPatchSchema = z.strictObject({
  mode: shape.mode.optional(),
  retry: shape.retry.partial().optional(),
  failures: shape.failures.partial().optional(),
  loops: shape.loops.partial().optional(),
  reruns: shape.reruns.partial().optional(),
  fatigue: shape.fatigue.partial().optional(),
  bias: shape.bias.partial().optional(),
  feedback: shape.feedback.partial().optional(),
  memory: shape.memory.partial().optional(),
  budget: shape.budget.partial().optional(),
  humans: shape.humans.partial().optional(),
});
export type PolicyPatch = z.infer<typeof policyPatchSchema>;
