/** Tools whose input says how each attempt ends, both in the simulator and on Temporal. */
import { z } from 'zod';
import { defineTool } from '../../src/define/define-tool.ts';
import { ToolError } from '../../src/define/tool-error.ts';
import { FAILURE_CATEGORIES } from '../../src/protocol/failure-categories.ts';

/** How one attempt ends. The last entry of a list applies to all further attempts. */
const behaviour = z.union([
  z.strictObject({ ok: z.json() }),
  z.strictObject({
    fail: z.enum(FAILURE_CATEGORIES),
    code: z.string().optional(),
    message: z.string().optional(),
    certainty: z.enum(['not_started', 'failed', 'unknown']).optional(),
    retry_after_ms: z.number().optional(),
    output: z.string().optional(),
  }),
  z.strictObject({ bad_output: z.literal(true) }),
]);
export type Behaviour = z.infer<typeof behaviour>;
const input = z.object({
  attempts: z.array(behaviour).min(1),
  reconciled: z.enum(['done', 'not_done', 'unknown']).optional(),
  more: z.json().optional(),
});

const run = (given: z.infer<typeof input>, { attempt }: { attempt: number }) => {
  const now = given.attempts[Math.min(attempt, given.attempts.length) - 1] ?? { ok: null };
  if ('ok' in now) return { value: now.ok };
  if ('bad_output' in now) return 'not an object' as unknown as { value: null };
  throw new ToolError(now.message ?? `scripted ${now.fail}`, {
    category: now.fail,
    ...(now.code !== undefined && { code: now.code }),
    ...(now.certainty !== undefined && { certainty: now.certainty }),
    ...(now.retry_after_ms !== undefined && { retryAfterMs: now.retry_after_ms }),
    ...(now.output !== undefined && { output: now.output }),
  });
};
const common = { input, output: z.object({ value: z.json() }), run };

export const scriptedTools = [
  defineTool({ name: 'script.read', effect: 'read', ...common }),
  defineTool({ name: 'script.put', effect: 'idempotent', ...common }),
  defineTool({ name: 'script.pay', effect: 'side_effect', ...common }),
  defineTool({
    name: 'script.book',
    effect: 'side_effect',
    ...common,
    reconcile: ({ reconciled }) =>
      reconciled === 'done'
        ? { verdict: 'done' as const, output: { value: 'found' } }
        : { verdict: reconciled ?? ('unknown' as const) },
  }),
  defineTool({ name: 'script.launch', effect: 'side_effect', approval: true, ...common }),
];
