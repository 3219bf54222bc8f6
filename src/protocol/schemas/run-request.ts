import { z } from 'zod';
import { CAP } from '../caps.ts';
import { idSchema } from './failure-record.ts';
import { jsonValueSchema } from './json-value.ts';
import { tenantSchema } from './tenant.ts';
import { planSchema } from './plan.ts';
import { policyPatchSchema } from './policy.ts';

/** The body of POST /v1/runs, also sent by the client and accepted from the bare `temporal` command. */
export const runRequestSchema = z.strictObject({
  agent: z.string().min(1).max(CAP.nameChars),
  goal: z.string().min(1).max(CAP.goalChars),
  input: jsonValueSchema.optional(),
  plan: planSchema.optional(),
  policy: policyPatchSchema.optional(),
  run_id: idSchema.optional(),
  loop_id: idSchema.optional(),
  labels: z.array(z.string().min(1).max(CAP.nameChars)).max(CAP.labels).optional(),
  tenant: tenantSchema.optional(),
  parent_run_id: idSchema.optional(),
});
