import { z } from 'zod';
import type { GuardrailsStatus } from '../../core/guardrails/guardrails-status.ts';
import type { LoopAnswer } from '../../core/guardrails/loop-answer.ts';
import type { OverrideAnswer } from '../../core/guardrails/family-overrides.ts';
import { CAP } from '../../protocol/caps.ts';
import { OVERRIDE_FIELDS_OF_REPORT } from '../../protocol/messages.ts';
import { POLICY_TABLE } from '../../protocol/policy-table.ts';
import { idSchema } from '../../protocol/schemas/failure-record.ts';
import { policyPatchSchema, policySchema, settingSchema } from '../../protocol/schemas/policy.ts';
import { fieldSchemas } from './messages.ts';
import { finalizeReason, rerunReason, rerunTrigger } from './shared-schemas.ts';

/** The schemas of the guardrails routes. */
const name = z.string().max(CAP.nameChars);
const score = z.number().min(0).max(1);

/** The parts of a policy that apply to loops which run elsewhere. */
const GUARD_PARTS = { mode: true, reruns: true, fatigue: true, bias: true, humans: true } as const;
// The shape of a policy is computed from its table, so its type does not say that it is an object.
const partsOf = (schema: z.ZodType) => (schema as unknown as z.ZodObject).pick(GUARD_PARTS);
const guardPolicyPatch = partsOf(policyPatchSchema);

const loopReport = z.strictObject({
  loop_id: idSchema,
  reflection_status: z.literal('done'),
  orchestrator_persona: name.nullish(),
  ...fieldSchemas(OVERRIDE_FIELDS_OF_REPORT),
  /** Only in the first report of a family, and only with the role operator. */
  policy: guardPolicyPatch.optional(),
  max_reruns: settingSchema(POLICY_TABLE.reruns.settings.max_reruns).optional(),
  reflection_result: z
    .strictObject({
      alignment_score: score,
      drift_score: score,
      summary_valid: z.boolean().optional(),
      reflection_persona: name.nullish(),
      bias_tags: z
        .array(z.union([name, z.looseObject({ tag: name })]))
        .max(50)
        .optional(),
    })
    .optional(),
});

const decision = z.discriminatedUnion('decision', [
  z.strictObject({
    decision: z.literal('rerun'),
    original_loop_id: z.string(),
    new_loop_id: z.string(),
    rerun_reason: rerunReason,
    rerun_trigger: z.array(rerunTrigger),
    rerun_number: z.int(),
    rerun_count: z.int(),
    max_reruns: z.int(),
    force_finalize: z.literal(false),
  }),
  z.strictObject({
    decision: z.literal('finalize'),
    original_loop_id: z.string(),
    finalize_reason: finalizeReason,
    force_finalize: z.boolean(),
    rerun_trigger: z.array(rerunTrigger),
    rerun_count: z.int(),
    max_reruns: z.int(),
  }),
]);

const loopAnswer: z.ZodType<LoopAnswer> = z.strictObject({
  status: z.literal('success'),
  loop_id: z.string(),
  reflection_result: z.strictObject({
    alignment_score: z.number(),
    drift_score: z.number(),
    summary_valid: z.boolean(),
    reflection_persona: z.string().nullable(),
    bias_echo: z.boolean(),
    repeated_tags: z.array(z.string()),
    repetition_counts: z.record(z.string(), z.int()),
    reflection_fatigue: z.number(),
    fatigue_increased: z.boolean(),
  }),
  decision_result: decision,
  orchestrator_persona: z.string().nullable(),
  timestamp: z.string(),
});

const guardrailsStatus: z.ZodType<GuardrailsStatus> = z.strictObject({
  loop_id: z.string(),
  rerun_count: z.int(),
  max_reruns: z.int(),
  rerun_limit_reached: z.boolean(),
  bias_echo: z.boolean(),
  reflection_fatigue: z.number(),
  fatigue_threshold_exceeded: z.boolean(),
  force_finalize: z.boolean(),
  rerun_reason: rerunReason.nullable(),
  rerun_trigger: z.array(rerunTrigger),
  alignment_score: z.number().nullable(),
  drift_score: z.number().nullable(),
  summary_valid: z.boolean().nullable(),
  reflection_persona: z.string().nullable(),
  finalize_reason: finalizeReason.nullable(),
});

const overrideAnswer: z.ZodType<OverrideAnswer> = z.strictObject({
  status: z.enum(['success', 'already_pending']),
  loop_id: z.string(),
  override_fatigue: z.boolean(),
  override_max_reruns: z.boolean(),
  overridden_by: z.string(),
  override_reason: z.string().nullable(),
  already_pending: z.array(z.enum(['max_reruns', 'fatigue'])).optional(),
});

export const GUARD_SCHEMAS = {
  LoopReport: loopReport,
  LoopAnswer: loopAnswer,
  GuardrailsStatus: z.strictObject({ status: z.literal('success'), guardrails_status: guardrailsStatus }),
  OverrideAnswer: overrideAnswer,
  GuardPolicyRequest: z.strictObject({ policy: guardPolicyPatch, by: z.string().min(1).max(CAP.nameChars) }),
  GuardPolicy: z.strictObject({
    policy: partsOf(policySchema),
    set_by: z.string().nullable(),
    set_at: z.string().nullable(),
    /** True after the first report. */
    fixed: z.boolean(),
  }),
} as const;
