import { z } from 'zod';
import type {
  AskedQuestion,
  FailureItem,
  ListedRun,
  ProjectedStep,
  Prompt,
  ShownGuidance,
  StartedRun,
  TranscriptMessage,
} from '../../client/views.ts';
import type { OverrideEntry } from '../../core/guardrails/overrides.ts';
import type { ReasonedTraceItem } from '../../core/guardrails/loop-trace.ts';
import { DECISIONS, type PendingQuestion, QUESTION_KINDS } from '../../protocol/questions.ts';
import type { RunStatus } from '../../protocol/run.ts';
import { failureRecordSchema, failureStatusSchema } from '../../protocol/schemas/failure-record.ts';
import { runRequestSchema } from '../../protocol/schemas/run-request.ts';
import { effectsReport } from './effects.ts';
import { finalizeReason, nextCursor, rerunReason, rerunTrigger } from './shared-schemas.ts';

/** The schemas of runs. The compiler checks that the schemas of answers match the types of the client. */
export const bound = z.strictObject({
  loops: z.int(),
  steps: z.int(),
  attempts: z.int(),
  model_calls: z.int(),
  tokens: z.int(),
  cost_micro_usd: z.int().nullable(),
  wait_ms: z.int(),
});
const amountsSchema = <T extends z.ZodType>(amount: T) =>
  z.strictObject({
    steps: amount,
    attempts: amount,
    model_calls: amount,
    tokens: amount,
    cost_micro_usd: amount,
    seconds: amount,
  });
const limits = amountsSchema(z.number().nullable());

const startedRun: z.ZodType<StartedRun> = z.strictObject({ run_id: z.string(), workflow_id: z.string(), bound });

export const runState = z.enum(['running', 'backing_off', 'waiting_for_human', 'reviewing', 'stopping', 'ended']);
export const runOutcome = z.enum(['completed', 'finalized', 'system_error', 'budget_exhausted', 'cancelled']);

const questionShape = {
  question_id: z.string(),
  kind: z.enum(QUESTION_KINDS).describe('What the question is about'),
  text: z.string(),
  fingerprint: z.string().optional(),
  step_id: z.int().optional().describe('The step that the question is about'),
  tool: z.string().optional().describe('The tool of that step, or `planner`'),
  input: z
    .json()
    .optional()
    .describe('A redacted preview of the input; if its JSON has more than 2,000 characters, a text with the beginning'),
  input_chars: z.int().optional().describe('Set if `input` is only the beginning: the length of the whole JSON'),
  input_artifact_id: z.string().optional().describe('The artifact with the whole input'),
  reason: z.string().optional().describe('What the model or planner wrote beside the call'),
  tried: z.array(z.string()).describe('What was tried before the question, one sentence each'),
  budget: z
    .strictObject({ used: amountsSchema(z.number()), limit: limits, cost_known: z.boolean() })
    .describe('What the run has used so far, and its limits'),
  options: z.array(z.enum(DECISIONS)),
  choices: z.array(z.strictObject({ option: z.enum(DECISIONS), does: z.string() })).describe('What each option does'),
  asked_at: z.string(),
  deadline: z.string(),
  if_unanswered: z
    .strictObject({ decision: z.enum(DECISIONS), does: z.string() })
    .describe('What happens after the deadline if nobody answers'),
};
const pendingQuestion: z.ZodType<PendingQuestion> = z.strictObject(questionShape);

const runStatus: z.ZodType<RunStatus> = z.strictObject({
  run_id: z.string(),
  agent: z.string(),
  goal: z.string(),
  labels: z.array(z.string()).optional(),
  tenant: z.string().optional(),
  parent_run_id: z.string().optional().describe('The run that this one works for'),
  thresholds: z
    .strictObject({ alignment: z.number(), drift: z.number(), fatigue: z.number() })
    .optional()
    .describe('What the passes of this run are judged by, from its own policy'),
  state: runState,
  outcome: runOutcome.optional(),
  loop_id: z.string(),
  step_id: z.int(),
  phase: z.string(),
  attempt: z.int(),
  guardrails: z.record(z.string(), z.json()),
  budget: z.strictObject({ limit: limits, used: amountsSchema(z.number()), left: limits }),
  bound: bound.nullable(),
  failures: z.strictObject({ total: z.int(), active: z.int(), by_signal: z.record(z.string(), z.int()) }),
  pending_question: pendingQuestion.optional(),
  next_action: z.string(),
  why: z.string(),
  enhancement: z.string().optional(),
  result: z
    .strictObject({ output: z.json(), artifact_id: z.string().nullable(), loop_id: z.string() })
    .nullable()
    .optional(),
  unsaved: z
    .strictObject({
      records: z.int(),
      outputs: z.int(),
      archive: z.boolean(),
      lost: z.int().optional().describe('Outputs that will never be written'),
      why: z.string().optional(),
    })
    .describe('What the run has and the store does not have yet'),
  effects: effectsReport
    .optional()
    .describe('Side effects of unknown outcome; of a sub-run, all that it found out about effects'),
  started_at: z.string(),
  updated_at: z.string(),
});

const listedRun: z.ZodType<ListedRun> = z.strictObject({
  run_id: z.string(),
  agent: z.string(),
  goal: z.string(),
  state: runState,
  outcome: runOutcome.optional(),
  labels: z.array(z.string()),
  tenant: z.string().optional(),
  attempts: z.int(),
  pending_question: pendingQuestion.optional(),
  started_at: z.string(),
  ended_at: z.string().nullable(),
});

const askedQuestion: z.ZodType<AskedQuestion> = z.strictObject({
  run_id: z.string(),
  agent: z.string(),
  goal: z.string(),
  ...questionShape,
});

const inputChanges = z.array(z.strictObject({ path: z.string(), from: z.json().optional(), to: z.json().optional() }));

const step: z.ZodType<ProjectedStep> = z.strictObject({
  loop_id: z.string(),
  step_id: z.int(),
  phase: z.string(),
  tool: z.string(),
  input: z.json(),
  input_artifact_id: z.string().optional(),
  edited: z
    .strictObject({ by: z.string(), changes: inputChanges, from_artifact_id: z.string().optional() })
    .optional()
    .describe('Set if a person changed the input before the call ran'),
  attempts: z.array(
    z.strictObject({
      attempt: z.int(),
      started_at: z.string(),
      ended_at: z.string().nullable(),
      outcome: z.enum(['ok', 'failed', 'cancelled', 'running']),
      wait_ms: z.number(),
      output: z.json().optional(),
      output_artifact_id: z.string().optional(),
      failure_id: z.string().optional(),
      manifest_id: z.string().optional(),
    }),
  ),
});

const transcriptMessage: z.ZodType<TranscriptMessage> = z.strictObject({
  turn: z.int(),
  role: z.enum(['system', 'user', 'assistant', 'tool']),
  content: z.string(),
  tool_calls: z.array(z.strictObject({ id: z.string(), tool: z.string(), input: z.json() })).optional(),
  tool_call_id: z.string().optional(),
});
const prompt: z.ZodType<Prompt> = z.strictObject({
  request: z.int(),
  turn: z.int(),
  attempt: z.int(),
  at: z.string(),
  messages: z.array(transcriptMessage).optional(),
});

export const standing = {
  status: failureStatusSchema,
  occurrence_count: z.int(),
  last_seen_step_id: z.int(),
  helpful_count: z.int(),
  harmful_count: z.int(),
};
const failureItem: z.ZodType<FailureItem> = z.strictObject({ ...failureRecordSchema.shape, ...standing });

export const guidanceRow = z.strictObject({
  fingerprint: z.string(),
  failure_id: z.string(),
  relevance: z.number(),
  why: z.string(),
  text: z.string(),
  reflection_id: z.int().optional(),
});
const shownGuidance: z.ZodType<ShownGuidance> = z.strictObject({
  step_id: z.int(),
  attempt: z.int(),
  guidance: z.string(),
  rows: z.array(guidanceRow),
});

const overrideEntry: z.ZodType<OverrideEntry> = z.strictObject({
  override_fatigue: z.boolean(),
  override_max_reruns: z.boolean(),
  override_by: z.string(),
  override_reason: z.string().nullable(),
  at: z.string(),
  via: z.enum(['override', 'loop_complete']),
  outcome: z.enum(['pending', 'spent', 'unused', 'already_pending', 'refused']),
  waits_for: z.array(z.enum(['max_reruns', 'fatigue'])),
  spent_by: z.string().nullable(),
});

const reasoning = z.strictObject({
  rerun_trigger: z.array(rerunTrigger),
  rerun_reason: rerunReason,
  rerun_reason_detail: z.string(),
  timestamp: z.string(),
  reflection_persona: z.string().nullable(),
  overridden_by: z.string().optional(),
});
const traceItem: z.ZodType<ReasonedTraceItem> = z.strictObject({
  loop_id: z.string(),
  status: z.enum(['running', 'reviewing', 'rerun', 'finalized']),
  timestamp: z.string(),
  rerun_of: z.string().nullable(),
  rerun_depth: z.int(),
  rerun_count: z.int(),
  max_reruns: z.int(),
  bias_echo: z.boolean(),
  bias_tags: z.array(z.string()).nullable(),
  repeated_tags: z.array(z.string()).nullable(),
  reflection_fatigue: z.number(),
  fatigue_increased: z.boolean(),
  rerun_reason: rerunReason.nullable(),
  rerun_reason_detail: z.string().nullable(),
  rerun_trigger: z.array(rerunTrigger).nullable(),
  force_finalize: z.boolean(),
  overridden_by: z.string().nullable(),
  orchestrator_persona: z.string().nullable(),
  reflection_persona: z.string().nullable(),
  finalize_reason: finalizeReason.nullable(),
  reasoning: reasoning.nullable(),
  alignment_score: z.number().nullable(),
  drift_score: z.number().nullable(),
  summary_valid: z.boolean().nullable(),
  repetition_counts: z.record(z.string(), z.int()).nullable(),
  fatigue_threshold_exceeded: z.boolean(),
  overrides: z.array(overrideEntry),
});

const EVENTS = [
  'run_started',
  'step_started',
  'sub_run_joined',
  'attempt_ended',
  'failure_recorded',
  'guidance_shown',
  'waiting',
  'question_asked',
  'answered',
  'review',
  'decision',
  'run_ended',
] as const;

export const RUN_SCHEMAS = {
  RunRequest: runRequestSchema,
  StartedRun: startedRun,
  RunStatus: runStatus,
  Runs: z.strictObject({ runs: z.array(listedRun), next_cursor: nextCursor }),
  Questions: z.strictObject({ questions: z.array(askedQuestion), next_cursor: nextCursor }),
  Steps: z.strictObject({ steps: z.array(step) }),
  GivenRequest: z.strictObject({
    run_id: z.string(),
    agent: z.string(),
    goal: z.string(),
    /** Null if the agent plans itself. */
    plan: z.json(),
    input: z.json(),
    /** The artifacts with the exact values. They exist once the run has ended. */
    plan_artifact_id: z.string().nullable(),
    input_artifact_id: z.string().nullable(),
  }),
  Transcript: z.strictObject({ transcript: z.array(transcriptMessage), next_cursor: nextCursor }),
  Prompts: z.strictObject({ prompts: z.array(prompt) }),
  Failures: z.strictObject({ failures: z.array(failureItem) }),
  Trace: z.strictObject({ trace: z.array(traceItem) }),
  Overrides: z.strictObject({ overrides: z.array(overrideEntry) }),
  Guidance: shownGuidance,
  /** The data of each event of a stream. Other fields depend on the event. */
  SentEvent: z.looseObject({
    id: z.string().optional().describe('Absent for `model_delta`, which cannot be sent again'),
    event: z.enum([...EVENTS, 'model_delta']),
    data: z.string().describe('A RunEvent or a ModelDelta as JSON, in one line'),
  }),
  RunEvent: z.looseObject({ id: z.string(), run_id: z.string(), at: z.string(), event: z.enum(EVENTS) }),
  /** What a model has produced of a turn that is under way: redacted, best effort, not final. */
  ModelDelta: z.strictObject({
    event: z.literal('model_delta'),
    at: z.string(),
    run_id: z.string(),
    loop_id: z.string(),
    turn: z.int(),
    attempt: z.int(),
    seq: z.int().describe('Counts the deltas of an attempt from 1; a gap means that some were lost'),
    final: z.literal(false),
    kind: z.enum(['text', 'tool_call']),
    text: z.string().describe('A piece of the text, or of the arguments of the call'),
    call_id: z.string().optional(),
    tool: z.string().optional(),
  }),
  AnswerTaken: z.strictObject({
    accepted: z.boolean(),
    question_id: z.string(),
    state: z.string(),
    reason: z.string().optional(),
    changes: inputChanges.optional().describe('What the answer changed in the input of the call'),
  }),
  FeedbackTaken: z.strictObject({
    feedback_type: z.string().nullable(),
    confidence: z.number(),
    effect: z.string(),
  }),
  Stopping: z.strictObject({ state: z.literal('stopping'), waiting_for: z.array(z.string()) }),
} as const;
