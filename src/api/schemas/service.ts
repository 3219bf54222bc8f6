import { z } from 'zod';
import { CAP } from '../../protocol/caps.ts';
import { planSchema } from '../../protocol/schemas/plan.ts';
import { policyPatchSchema, policySchema } from '../../protocol/schemas/policy.ts';
import { metricsReport } from './metrics.ts';
import { bound } from './run.ts';

/** The schemas of the server itself: policy, agents, monitors, health. */
const rate = z.number().nullable();

const tool = z.strictObject({
  name: z.string(),
  effect: z.enum(['read', 'idempotent', 'side_effect']),
  kind: z.enum(['action', 'retrieval']),
  approval: z.boolean(),
  timeout_ms: z.int(),
  input_schema: z.json(),
});

const retry = z.strictObject({ tried: z.int(), succeeded: z.int(), success: rate, recovery: rate });
const figures = {
  agent: z.string(),
  model: z.string().nullable(),
  evaluations: z.int(),
  first_attempt_success: rate,
  retry_1: retry,
  retry_2: retry,
  final_success: rate,
  recovered: z.int(),
  recovery: rate,
  added_seconds: z.number(),
  added_cost_micro_usd: z.number(),
  cost_per_extra_success_micro_usd: rate,
  runtime_overhead: rate,
  cost_overhead: rate,
  runtime_overhead_of_attempts: rate,
  cost_overhead_of_attempts: rate,
};
const remainingFailure = z.strictObject({
  evaluation_id: z.string(),
  agent: z.string(),
  model: z.string(),
  subject: z.string(),
  category: z.string().nullable(),
  attempts: z.int(),
  prompt_diffs: z.array(z.string()),
  persistent_across_models: z.boolean().nullable(),
});

const enhancementSwitch = z.strictObject({
  agent: z.string(),
  enhancement: z.enum(['on', 'off']),
  since: z.string().nullable(),
  /** Who changed it last: a person or the automatic rule. */
  by: z.string().nullable(),
  /** The reason that a person gave. */
  note: z.string().nullable(),
  reason: z.string().nullable(),
  sentence: z.string().nullable(),
});

export const SERVICE_SCHEMAS = {
  Session: z.strictObject({
    role: z.enum(['viewer', 'reporter', 'operator']),
    version: z.string(),
    temporal: z.strictObject({ namespace: z.string(), ui_url: z.string().nullable() }),
  }),
  BoundRequest: z.strictObject({
    policy: policyPatchSchema.optional(),
    plan: planSchema.optional(),
    agent: z.string().min(1).max(CAP.nameChars).optional(),
  }),
  Bound: z.strictObject({ ...bound.shape, sentence: z.string() }),
  Policy: policySchema,
  Agents: z.strictObject({
    agents: z.array(
      z.strictObject({
        name: z.string(),
        planner: z.enum(['given', 'chooses']),
        has_plan: z.boolean(),
        reviewer: z.enum(['rules', 'own', 'model']),
        policy: policyPatchSchema,
        tools: z.array(tool),
      }),
    ),
  }),
  Monitors: z.strictObject({
    monitors: z.array(z.strictObject({ ...figures, day: z.string() })),
    overall: z.array(z.strictObject(figures)),
    remaining_failures: z.array(remainingFailure),
    switches: z.array(enhancementSwitch),
    /** Of all ended runs: how often agents repeat themselves, what a step costs, and how runs end. */
    metrics: metricsReport,
  }),
  SwitchRequest: z.strictObject({
    agent: z.string().min(1).max(CAP.nameChars),
    enhancement: z.enum(['on', 'off']),
    by: z.string().min(1).max(200),
    reason: z.string().min(1).max(1_000).optional(),
  }),
  Switched: z.strictObject({
    /** False if the switch had this state already. */
    switched: z.boolean(),
    ...enhancementSwitch.shape,
  }),
  Problem: z.looseObject({
    type: z.string(),
    title: z.string(),
    status: z.int(),
    detail: z.string(),
    errors: z.array(z.strictObject({ path: z.string(), message: z.string() })).optional(),
  }),
  /** Payloads of Temporal, as its codec protocol writes them: every value in base64. */
  Payloads: z.strictObject({
    payloads: z
      .array(z.looseObject({ metadata: z.record(z.string(), z.base64()).optional(), data: z.base64().optional() }))
      .max(1_000),
  }),
  Alive: z.strictObject({ status: z.literal('ok') }),
  Ready: z.strictObject({
    status: z.literal('ready'),
    parts: z.strictObject({ temporal: z.string(), store: z.string() }),
  }),
  Welcome: z.strictObject({ name: z.string(), version: z.string(), openapi: z.string(), docs: z.string() }),
  OpenApi: z.record(z.string(), z.json()),
} as const;
