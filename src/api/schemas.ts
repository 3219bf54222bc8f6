import { z } from 'zod';
import type { StartedRun } from '../client/index.ts';
import type { RunStatus } from '../protocol/run.ts';
import { runRequestSchema } from '../protocol/schemas/run-request.ts';

/** Shapes of bodies and answers for /openapi.json. Those of our own answers are held to the types by the compiler. */
const bound = z.object({
  loops: z.int(),
  steps: z.int(),
  attempts: z.int(),
  model_calls: z.int(),
  tokens: z.int(),
  cost_micro_usd: z.int().nullable(),
  wait_ms: z.int(),
});
const amountsOf = <T extends z.ZodType>(amount: T) =>
  z.object({
    steps: amount,
    attempts: amount,
    model_calls: amount,
    tokens: amount,
    cost_micro_usd: amount,
    seconds: amount,
  });
const limits = amountsOf(z.number().nullable());

const startedRun: z.ZodType<StartedRun> = z.object({ run_id: z.string(), workflow_id: z.string(), bound });

const runStatus: z.ZodType<RunStatus> = z.object({
  run_id: z.string(),
  agent: z.string(),
  goal: z.string(),
  state: z.enum(['running', 'backing_off', 'waiting_for_human', 'reviewing', 'stopping', 'ended']),
  outcome: z.enum(['completed', 'finalized', 'system_error', 'budget_exhausted', 'cancelled']).optional(),
  loop_id: z.string(),
  step_id: z.int(),
  phase: z.string(),
  attempt: z.int(),
  guardrails: z.record(z.string(), z.json()),
  budget: z.object({ limit: limits, used: amountsOf(z.number()), left: limits }),
  bound,
  failures: z.object({ total: z.int(), active: z.int(), by_signal: z.record(z.string(), z.int()) }),
  pending_question: z
    .object({
      question_id: z.string(),
      text: z.string(),
      fingerprint: z.string().optional(),
      tried: z.array(z.string()),
      options: z.array(z.enum(['retry', 'skip', 'stop', 'correct', 'approve', 'deny'])),
      asked_at: z.string(),
      deadline: z.string(),
    })
    .optional(),
  next_action: z.string(),
  why: z.string(),
  result: z.object({ output: z.json(), artifact_id: z.string().nullable(), loop_id: z.string() }).nullable().optional(),
  started_at: z.string(),
  updated_at: z.string(),
});

const problem = z.object({
  type: z.string(),
  title: z.string(),
  status: z.int(),
  detail: z.string(),
  errors: z.array(z.object({ path: z.string(), message: z.string() })).optional(),
});

export const SCHEMAS = {
  RunRequest: runRequestSchema,
  StartedRun: startedRun,
  RunStatus: runStatus,
  Problem: problem,
  Alive: z.object({ status: z.literal('ok') }),
  Ready: z.object({ status: z.literal('ready'), parts: z.object({ temporal: z.string(), store: z.string() }) }),
  Welcome: z.object({ name: z.string(), version: z.string(), openapi: z.string() }),
  OpenApi: z.record(z.string(), z.json()),
} as const;
export type SchemaName = keyof typeof SCHEMAS;
