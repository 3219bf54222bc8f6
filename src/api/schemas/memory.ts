import { z } from 'zod';
import { FEEDBACK_TYPES } from '../../core/feedback/types.ts';
import { CAP } from '../../protocol/caps.ts';
import type { KnownFailure } from '../../protocol/known-failures.ts';
import {
  contextRefsSchema,
  failureRecordSchema,
  idSchema,
  severitySchema,
  signalTypeSchema,
} from '../../protocol/schemas/failure-record.ts';
import { runRequestSchema } from '../../protocol/schemas/run-request.ts';
import { tenantSchema } from '../../protocol/schemas/tenant.ts';
import { nextCursor } from './shared-schemas.ts';
import { guidanceRow, standing } from './run.ts';

/** The schemas of reported failures, lessons and feedback. */
const name = z.string().min(1).max(CAP.nameChars);
const by = z.string().min(1).max(200);
const reason = z.string().min(1).max(CAP.textChars);

const failureReport = z.strictObject({
  run_id: idSchema,
  /** Whose run it is. A token may have a tenant of its own. */
  tenant: tenantSchema.optional(),
  step_id: z.int().min(0).max(1_000_000_000),
  phase: name.optional(),
  signal_type: signalTypeSchema,
  severity: severitySchema.optional(),
  tool_name: name.nullish(),
  error_code: z.string().min(1).max(80).nullish(),
  message: z
    .string()
    .max(16 * 1024)
    .nullish(),
  query: z.string().max(CAP.textChars).nullish(),
  chunk_ids: z.array(z.string().max(200)).max(200).nullish(),
  attempted_action: z
    .strictObject({
      action_id: z.string().max(200).optional(),
      tool_name: name.nullish(),
      tool_call_id: z.string().max(200).nullish(),
      input_hash: z.string().max(80).nullish(),
    })
    .optional(),
  context_refs: contextRefsSchema.optional(),
});

const lessonAction = z.enum(['retire', 'restore', 'pin', 'unpin', 'edit']);
const lessonStatus = z.enum(['candidate', 'proven', 'quarantined']);
const reflection = z.strictObject({
  id: z.int(),
  /** The agent that the lesson belongs to; null for all agents. */
  agent: z.string().nullable(),
  /** Whose runs may see it; null for runs without a tenant. */
  tenant: z.string().nullable(),
  category: z.string(),
  /** The fingerprint of the failure that the lesson was learnt from; null for a lesson that was imported. */
  fingerprint: z.string().nullable(),
  content: z.string(),
  rationale: z.string(),
  tags: z.array(z.string()),
  context: z.strictObject({
    error_signature: z.string(),
    original_query: z.string(),
    iteration_count: z.number(),
    quality_improvement: z.number(),
    reflection_context: z.string(),
  }),
  pinned: z.boolean(),
  /**
   * `candidate`: on probation. `proven`: its trial showed that it helps. `quarantined`: its trial showed that it harms.
   * `superseded`: the schema of its tool has changed.
   */
  status: z.enum([...lessonStatus.options, 'superseded']),
  /** Why no run sees a superseded lesson; null for the others. */
  superseded_because: z.string().nullable(),
  occurrence_count: z.int(),
  score: z.number(),
  reason: z.enum(['same_fingerprint', 'same_message', 'same_signature', 'similar', 'recent']),
});

const arm = z.strictObject({ n: z.int(), ok: z.int() });
const bothSides = z.strictObject({ shown: z.number().nullable(), withheld: z.number().nullable() });
const verdictFigures = { effect: z.number(), low: z.number(), high: z.number() };
const reflectionRevision = z.strictObject({
  id: z.int(),
  reflection_id: z.int(),
  action: lessonAction,
  content: z.string().nullable(),
  by: z.string(),
  reason: z.string().nullable(),
  created_at: z.string(),
});

const feedbackType = z.enum(FEEDBACK_TYPES);
const logEntry = {
  timestamp: z.string(),
  original_prompt: z.string(),
  feedback_type: z.string(),
  feedback_signal: z.string(),
  actions_applied: z.array(z.string()),
  refined_prompt: z.string(),
  iteration: z.int(),
  success: z.boolean(),
};

const feedbackSource = z.enum(['person', 'tool_output']);

const knownFailure: z.ZodType<KnownFailure> = z.strictObject({
  fingerprint: z.string(),
  signal_type: z.string(),
  tool_name: z.string().nullable(),
  error_code: z.string().nullable(),
  message_preview: z.string().nullable(),
  occurrence_count: z.int(),
  run_count: z.int(),
  agents: z.array(z.string()),
  first_seen: z.string(),
  last_seen: z.string(),
  status: z.enum(['active', 'resolved']),
  days: z.array(z.strictObject({ day: z.string(), occurrence_count: z.int() })),
  lesson: z
    .strictObject({
      id: z.int(),
      content: z.string(),
      learnt_at: z.string(),
      per_run_before: z.number().nullable(),
      per_run_after: z.number().nullable(),
      runs_before: z.int(),
      runs_after: z.int(),
    })
    .nullable(),
});

export const MEMORY_SCHEMAS = {
  FailureReport: failureReport,
  FailureTaken: z.strictObject({
    failure_id: z.string(),
    fingerprint: z.string(),
    occurrence_count: z.int(),
    seen_before: z.boolean(),
    guidance: z.array(guidanceRow),
    escalation: z.enum(['ask_human', 'system_error']).nullable(),
  }),
  FailureRevisionRequest: z.strictObject({ status: z.literal('superseded'), by, reason }),
  FailureRevised: z.strictObject({ failure_id: z.string(), fingerprint: z.string(), ...standing }),
  Fingerprints: z.strictObject({
    fingerprints: z.array(
      z.strictObject({ day: z.string(), fingerprint: z.string(), occurrence_count: z.int(), run_count: z.int() }),
    ),
  }),
  KnownFailures: z.strictObject({ known_failures: z.array(knownFailure) }),
  FailureSamples: z.strictObject({ samples: z.array(failureRecordSchema) }),
  ReflectionRequest: z.strictObject({
    error_type: name,
    content: z.string().min(1).max(CAP.textChars),
    context: z.string().max(CAP.textChars),
    query: z.string().max(CAP.textChars),
    iteration: z.int().min(0).max(1_000_000),
    quality_delta: z.number().min(-1_000_000).max(1_000_000),
    changed_behavior: z.boolean(),
    agent: name.optional(),
    scope: z.enum(['agent', 'global', 'run']).optional(),
    tenant: tenantSchema.optional(),
    /** The error that the lesson is about. It is found by this text, also in other words, by its tool and by its code. */
    error_text: z
      .string()
      .min(1)
      .max(16 * 1024)
      .optional(),
    error_code: z.string().min(1).max(80).optional(),
    tool_name: name.optional(),
  }),
  ReflectionTaken: z.strictObject({
    id: z.int().nullable(),
    stored: z.boolean(),
    deduplicated: z.boolean(),
    duplicate_of: z.int().optional(),
    occurrence_count: z.int(),
    error_signature: z.string(),
  }),
  Reflections: z.strictObject({ reflections: z.array(reflection), next_cursor: nextCursor }),
  ReflectionSeen: z.strictObject({
    seen: z.boolean(),
    /** How often it was recorded as a failure or learnt as a lesson, whichever is more. */
    occurrence_count: z.int(),
    lesson: z.strictObject({ id: z.int(), reason: z.string() }).optional(),
    failure: z
      .strictObject({
        fingerprint: z.string(),
        reason: z.enum(['same_fingerprint', 'same_message', 'similar']),
        score: z.number(),
        occurrence_count: z.int(),
        run_count: z.int(),
        last_seen: z.string(),
      })
      .optional(),
  }),
  ReflectionRevisionRequest: z.strictObject({
    action: lessonAction,
    content: z.string().min(1).max(CAP.textChars).optional(),
    by,
    reason: z.string().max(CAP.textChars).optional(),
  }),
  ReflectionRevised: reflectionRevision,
  ReflectionEvidence: reflection.extend({
    retired: z.boolean(),
    tools: z.array(z.string()),
    fingerprint: z.string().nullable(),
    /** The errors that it was learnt from, by which it is found. */
    errors: z.array(
      z.strictObject({
        tool_name: z.string().nullable(),
        error_code: z.string().nullable(),
        text: z.string(),
        fingerprint: z.string().nullable(),
      }),
    ),
    created_at: z.string(),
    last_seen_at: z.string(),
    succeeded_count: z.int(),
    failed_count: z.int(),
    /** The current phase of its trial: runs that saw it against runs from which it was withheld. */
    trial: z
      .strictObject({
        status: lessonStatus,
        phase: z.string(),
        shown: arm,
        withheld: arm,
        ...verdictFigures,
        effect: z.number().nullable(),
        verdict: z.enum(['helps', 'harms', 'open']),
        attempts: bothSides,
        same_again: bothSides,
      })
      .nullable(),
    verdicts: z.array(
      z.strictObject({
        status: z.enum(['proven', 'quarantined']),
        shown: z.int(),
        withheld: z.int(),
        ...verdictFigures,
        created_at: z.string(),
      }),
    ),
    revisions: z.array(reflectionRevision),
    occurrences: z.array(z.strictObject({ run_id: z.string().nullable(), at: z.string() })),
    runs: z
      .array(z.strictObject({ run_id: z.string(), shown: z.boolean(), ok: z.boolean(), at: z.string() }))
      .describe('The latest runs that saw it, or from which it was withheld'),
  }),
  ReflectionPreviewRequest: runRequestSchema.partial({ goal: true }).required({ run_id: true }),
  ReflectionPreview: z.strictObject({
    run_id: z.string(),
    lessons: z.array(
      z.strictObject({
        id: z.int(),
        content: z.string(),
        tools: z.array(z.string()),
        status: lessonStatus,
        pinned: z.boolean(),
        shown: z.boolean(),
        why: z.string(),
      }),
    ),
  }),
  DetectRequest: z.strictObject({ text: z.string().max(1_000_000) }),
  Detection: z.strictObject({
    feedback_type: feedbackType.nullable(),
    confidence: z.number(),
    matches: z.array(z.strictObject({ feedback_type: feedbackType, pattern: z.string(), text: z.string() })),
    actions: z.array(z.strictObject({ type: z.string(), text: z.string() })),
  }),
  RefineRequest: z.strictObject({
    prompt: z.string().max(32_000),
    feedback: z.string().max(32_000),
    max_refinement_iterations: z.int().min(0).max(20).optional(),
  }),
  Refinement: z.strictObject({
    refined_prompt: z.string(),
    score: z.number(),
    iterations: z.array(z.strictObject({ ...logEntry, feedback_type: feedbackType })),
  }),
  FeedbackLog: z.strictObject({
    log: z.array(z.strictObject({ ...logEntry, run_id: z.string().nullable(), source: feedbackSource })),
    next_cursor: nextCursor,
  }),
  FeedbackEffectiveness: z.strictObject({
    effectiveness: z.array(
      z.strictObject({
        source: feedbackSource,
        feedback_type: z.string(),
        action: z.string(),
        /** How often the action was applied. */
        n: z.int(),
        /** How often success followed: the next attempt succeeded, or the run that a person gave feedback to completed. */
        succeeded: z.int(),
        success_rate: z.number(),
      }),
    ),
  }),
} as const;
