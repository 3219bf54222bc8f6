import { z } from 'zod';
import { LIMIT } from '../limits.ts';
import { idSchema } from './failure-record.ts';

export const planStepSchema = z.strictObject({
  id: idSchema.optional(),
  phase: z.string().min(1).max(LIMIT.nameChars),
  tool: z.string().min(1).max(LIMIT.nameChars),
  input: z.json(),
  output_schema: z.record(z.string(), z.json()).optional(),
  after: z.array(idSchema).max(LIMIT.planSteps).optional(),
});
export const planSchema = z.strictObject({ steps: z.array(planStepSchema).min(1).max(LIMIT.planSteps) });
export type PlanStep = z.infer<typeof planStepSchema>;
export type Plan = z.infer<typeof planSchema>;
