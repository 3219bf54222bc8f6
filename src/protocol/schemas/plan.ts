import { z } from 'zod';
import { CAP } from '../caps.ts';
import { idSchema } from './failure-record.ts';
import { jsonValueSchema } from './json-value.ts';

export const planStepSchema = z.strictObject({
  id: idSchema.optional(),
  phase: z.string().min(1).max(CAP.nameChars),
  tool: z.string().min(1).max(CAP.nameChars),
  input: jsonValueSchema,
  output_schema: z.record(z.string(), jsonValueSchema).optional(),
  after: z.array(idSchema).max(CAP.planSteps).optional(),
});
export const planSchema = z.strictObject({ steps: z.array(planStepSchema).min(1).max(CAP.planSteps) });
export type PlanStep = z.infer<typeof planStepSchema>;
export type Plan = z.infer<typeof planSchema>;
