import { z } from 'zod';
import { defineAgent } from '../../define/define-agent.ts';
import { defineTool } from '../../define/define-tool.ts';
import { ToolError } from '../../define/tool-error.ts';
import { isFailureCategory } from '../../protocol/failure-categories.ts';

/** Fails for the first `fail_times` attempts, with the category that belongs to `error_code`. */
const flaky = defineTool({
  name: 'demo.flaky',
  effect: 'read',
  input: z.strictObject({
    fail_times: z.int().min(0).max(1_000),
    error_code: z.string().max(80).optional(),
    output: z.json().optional(),
  }),
  output: z.json(),
  timeoutMs: 10_000,
  run: (input, { attempt }) => {
    if (attempt > input.fail_times) return input.output ?? { ok: true, attempt };
    const named = input.error_code;
    const category = isFailureCategory(named) ? named : 'server_error';
    throw new ToolError(`demo.flaky fails ${input.fail_times} times`, { category, code: named ?? 'HTTP_503' });
  },
});

/** The built-in agent. */
export const demoAgent = defineAgent({
  name: 'demo',
  tools: [flaky],
  plan: { steps: [{ phase: 'demo', tool: 'demo.flaky', input: { fail_times: 1 } }] },
});
