import { z } from 'zod';
import type { EffectsReport, SharedEffect, UnknownEffect } from '../../protocol/effects.ts';

const unknownEffect: z.ZodType<UnknownEffect> = z.strictObject({
  call: z.string(),
  key: z.string().describe('The idempotency key of the attempt'),
  told: z.string().describe('The call in short'),
  known: z.string().describe('What is known of it, and what people wrote about it'),
  may_act_until: z.number().optional(),
  still_running: z.literal(true).optional(),
});
const sharedEffect: z.ZodType<SharedEffect> = z.strictObject({
  call: z.string(),
  told: z.string().optional(),
  artifact_id: z.string().nullable(),
  bytes: z.int(),
  known: z.string().optional(),
  closed: z.literal(true).optional(),
});
const counts = z.record(z.string(), z.int());
/** What a run knows about side effects. The compiler checks that it matches the type of the client. */
export const effectsReport: z.ZodType<EffectsReport> = z.strictObject({
  done: counts,
  unknown: z.array(unknownEffect).describe('Side effects that may have happened; an identical call does not run'),
  settled: z.array(z.string()),
  answered: counts.optional(),
  kept: z.array(sharedEffect).optional(),
  fence: z.int(),
});
