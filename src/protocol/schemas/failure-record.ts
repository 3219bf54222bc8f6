import { z } from 'zod';
import { ID_PATTERN } from '../ids.ts';
import { CAP } from '../caps.ts';

export const idSchema = z.string().regex(ID_PATTERN);
/** Artifact ids are 64 hex digits, the sha256 of the content. */
export const artifactIdSchema = z.string().regex(/^[0-9a-f]{64}$/);

export const signalTypeSchema = z.enum([
  'tool_error',
  'retrieval_failure',
  'contract_violation',
  'loop_stall',
  'human_correction',
  'budget_pressure',
]);
export type SignalType = z.infer<typeof signalTypeSchema>;

export const severitySchema = z.enum(['low', 'medium', 'high', 'critical']);
export type Severity = z.infer<typeof severitySchema>;

const toolName = z.string().max(CAP.nameChars);

/** The change that a failure recommends. A closed union, so that constraints can be enforced. */
export const recommendedAdjustmentSchema = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('cap_output'), tool_name: toolName, max_bytes: z.int().positive() }),
  z.strictObject({ type: z.literal('set_timeout'), tool_name: toolName, timeout_ms: z.int().positive() }),
  z.strictObject({
    type: z.literal('paginate'),
    tool_name: toolName,
    page_size: z.int().positive(),
    argument: z.string().max(100).optional(),
  }),
  z.strictObject({ type: z.literal('change_arguments'), tool_name: toolName, paths: z.array(z.string()).max(10) }),
  z.strictObject({ type: z.literal('broaden_query'), tool_name: toolName }),
  z.strictObject({ type: z.literal('fix_schema'), tool_name: toolName, paths: z.array(z.string()).max(10) }),
  z.strictObject({ type: z.literal('use_other_tool'), tool_name: toolName }),
  z.strictObject({
    type: z.literal('deny'),
    tool_name: toolName,
    argument: z.string().max(200).optional(),
    host: z.string().max(253).optional(),
  }),
  z.strictObject({ type: z.literal('ask_human'), reason: z.string().max(200) }),
  z.strictObject({ type: z.literal('reduce_scope'), budget: z.string().max(40) }),
]);
export type RecommendedAdjustment = z.infer<typeof recommendedAdjustmentSchema>;

export const outcomeKindSchema = z.enum([
  'exception',
  'timeout',
  'pointer_unresolved',
  'side_effect_unknown',
  'empty_result',
  'low_confidence',
  'no_evidence',
  'schema_violation',
  'repair_exhausted',
  'repeated_call',
  'correction',
  'soft_limit',
  'near_limit',
]);
export type OutcomeKind = z.infer<typeof outcomeKindSchema>;

const refId = z.string().max(CAP.refIdChars);
const refIds = z.array(refId).max(CAP.refIds);

/** Pointers to what a failure is about. Own runs fill the lists; a report may name one chunk or one piece of evidence. */
export const contextRefsSchema = z.strictObject({
  manifest_id: artifactIdSchema.optional(),
  artifact_ids: z.array(artifactIdSchema).max(20).optional(),
  query_id: refId.optional(),
  chunk_id: refId.optional(),
  chunk_ids: refIds.optional(),
  span: z.tuple([z.int(), z.int()]).optional(),
  evidence_id: refId.optional(),
  evidence_ids: refIds.optional(),
});
export type ContextRefs = z.infer<typeof contextRefsSchema>;

/**
 * The record of one failed attempt, which is never changed. The TypeScript type, the database row, the JSON Schema and
 * the API document are derived from it.
 */
export const failureRecordSchema = z.strictObject({
  failure_id: idSchema,
  run_id: idSchema,
  step_id: z.int().min(0),
  phase: z.string().min(1).max(CAP.nameChars),
  signal_type: signalTypeSchema,
  severity: severitySchema,
  fingerprint: z.string().min(1).max(200),
  attempted_action: z.strictObject({
    action_id: z.string().max(200),
    tool_name: toolName.nullable(),
    tool_call_id: z.string().max(200).nullable(),
    input_hash: z.string().max(80).nullable(),
  }),
  observed_outcome: z.strictObject({
    kind: outcomeKindSchema,
    error_code: z.string().max(80).optional(),
    message_preview: z.string().max(CAP.messagePreviewChars).optional(),
    duration_ms: z.int().min(0),
  }),
  recommended_adjustment: recommendedAdjustmentSchema,
  context_refs: contextRefsSchema,
  created_at: z.iso.datetime(),
});
export type FailureRecord = z.infer<typeof failureRecordSchema>;

export const failureStatusSchema = z.enum(['active', 'resolved', 'superseded']);
export type FailureStatus = z.infer<typeof failureStatusSchema>;
