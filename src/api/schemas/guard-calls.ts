import { z } from 'zod';
import type { InspectedLoop } from '../../core/inspect/inspected-loop.ts';
import { idSchema } from '../../protocol/schemas/failure-record.ts';
import { POLICY_TABLE } from '../../protocol/policy-table.ts';
import { plainText } from './shared-schemas.ts';

/** The schemas of the guard around the tool calls of agents that run elsewhere. */
const TOOL_CHARS = 200;

const call = {
  agent: plainText(TOOL_CHARS),
  session: idSchema.describe('The conversation of the agent. Calls are counted within it.'),
  tool: plainText(TOOL_CHARS),
  input: z.unknown().describe('The arguments of the call, as any JSON'),
  effect: z.enum(['read', 'idempotent', 'side_effect']).optional(),
  mode: z.enum(POLICY_TABLE.mode.choices).optional().describe('Default: the mode of the policy'),
  user_message: z.boolean().optional().describe('True if a person wrote a message since the call before'),
};

const loop: z.ZodType<InspectedLoop> = z.strictObject({
  rule: z.string(),
  level: z.enum(['suspect', 'stuck']),
  tool: z.string().nullable(),
  start: z.int(),
  end: z.int(),
  repeats: z.int(),
  would_stop_at: z.int().nullable(),
  signal: z.string(),
  progress: z.string(),
});

const told = {
  why: z.string(),
  guidance: z.string().optional().describe('What to tell the agent, at the end of the result of the call'),
  loop: loop.optional(),
};

export const GUARD_CALL_SCHEMAS = {
  GuardBefore: z.strictObject(call),
  GuardBeforeAnswer: z.strictObject({ action: z.enum(['allow', 'guide', 'ask', 'deny']), ...told }),
  GuardAfter: z.strictObject({
    ...call,
    output: z.unknown().optional().describe('What the call returned, as text or as any JSON'),
    error: z.unknown().optional().describe('Why the call failed, as text or as any JSON, instead of `output`'),
  }),
  GuardAfterAnswer: z.strictObject({ action: z.enum(['continue', 'guide', 'ask', 'stop']), ...told }),
} as const;
