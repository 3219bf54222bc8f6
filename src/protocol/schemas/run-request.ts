import { z } from 'zod';
import { LIMIT } from '../limits.ts';
import { idSchema } from './failure-record.ts';
import { planSchema } from './plan.ts';
import { policyPatchSchema } from './policy.ts';

/** The body of POST /v1/runs, and what the client and the bare `temporal` command send. */
export const runRequestSchema = z.strictObject({
  agent: z.string().min(1).max(LIMIT.nameChars),
  goal: z.string().min(1).max(LIMIT.goalChars),
  input: z.json().optional(),
  plan: planSchema.optional(),
  policy: policyPatchSchema.optional(),
  run_id: idSchema.optional(),
  loop_id: idSchema.optional(),
  labels: z.array(z.string().min(1).max(LIMIT.nameChars)).max(LIMIT.labels).optional(),
  parent_run_id: idSchema.optional(),
});
