import { z } from 'zod';
import type { Evaluation } from '../core/retry/monitors.ts';
import { FAILURE_CATEGORIES } from '../protocol/failure-categories.ts';
import { actionId } from '../protocol/ids.ts';
import { defined } from '../protocol/json.ts';
import type { EnhancementArm, StepEvaluation } from '../protocol/lessons.ts';
import { CAP } from '../protocol/caps.ts';
import { cleanText, jsonParameter } from './clean-text.ts';
import { parseInput, isoMillis } from './validation.ts';

/** More attempts than any policy allows for a step. The list is capped because everything in the store is. */
const MAX_ATTEMPTS = 500;

const name = z.string().min(1).max(CAP.nameChars);
const amount = z.number().min(0).max(Number.MAX_SAFE_INTEGER).transform(Math.round);

const evaluationSchema = z.object({
  run_id: name,
  step_id: z.int().min(0),
  agent: name,
  model: z.string().max(CAP.textChars).nullable(),
  subject: z.string().max(CAP.textChars),
  attempts: z
    .array(
      z.object({
        ok: z.boolean(),
        category: z.enum(FAILURE_CATEGORIES).nullable(),
        wait_ms: amount,
        duration_ms: amount,
        cost_micro_usd: amount,
        prompt_diff: z.string().max(200).nullable(),
      }),
    )
    .min(1)
    .max(MAX_ATTEMPTS),
  /** Other work of the same step, if known. Overheads are compared with it. */
  other_ms: amount.optional(),
  other_cost_micro_usd: amount.optional(),
  arm: z.enum(['enhanced', 'baseline', 'off']).optional(),
  created_at: z.iso.datetime(),
});

export type NewEvaluation = StepEvaluation;

const sum = (numbers: readonly number[]): number => numbers.reduce((total, one) => total + one, 0);

export const toEvaluationRow = (input: NewEvaluation) => {
  const one = parseInput(evaluationSchema, input);
  const [first, ...retries] = one.attempts;
  const okAt = one.attempts.findIndex((attempt) => attempt.ok);
  return {
    run_id: cleanText(one.run_id),
    step_id: one.step_id,
    agent: cleanText(one.agent),
    model: one.model === null ? null : cleanText(one.model),
    subject: cleanText(one.subject),
    attempts: one.attempts.length,
    first_ok: okAt === 0,
    final_ok: okAt !== -1,
    ok_at: okAt === -1 ? null : okAt,
    category: one.attempts.findLast((attempt) => attempt.category !== null)?.category ?? null,
    base_ms: first?.duration_ms ?? 0,
    added_ms: sum(retries.map((attempt) => attempt.wait_ms + attempt.duration_ms)),
    base_cost_micro_usd: first?.cost_micro_usd ?? 0,
    added_cost_micro_usd: sum(retries.map((attempt) => attempt.cost_micro_usd)),
    attempt_list: jsonParameter(one.attempts),
    other_ms: one.other_ms ?? 0,
    other_cost_micro_usd: one.other_cost_micro_usd ?? 0,
    arm: one.arm ?? null,
    created_at: isoMillis(one.created_at),
  };
};

/** Evaluations without a model are grouped under this name. */
const NO_MODEL = 'none';

interface EvaluationRow {
  run_id: string;
  step_id: number;
  agent: string;
  model: string | null;
  subject: string | null;
  attempt_list: StepEvaluation['attempts'];
  other_ms: number;
  other_cost_micro_usd: number;
  arm: EnhancementArm | null;
}

/** Converts a row to core's form. */
export const toEvaluation = (row: EvaluationRow): Evaluation => ({
  evaluation_id: actionId(row.run_id, row.step_id),
  agent: row.agent,
  model: row.model ?? NO_MODEL,
  subject: row.subject ?? '',
  attempts: row.attempt_list,
  other_ms: row.other_ms,
  other_cost_micro_usd: row.other_cost_micro_usd,
  ...defined({ arm: row.arm ?? undefined }),
});
