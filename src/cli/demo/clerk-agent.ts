import { isDeepStrictEqual } from 'node:util';
import { z } from 'zod';
import { type Agent, type Choice, defineAgent } from '../../define/define-agent.ts';
import { defineTool } from '../../define/define-tool.ts';
import { ToolError } from '../../define/tool-error.ts';
import type { PlannerView } from '../../core/run/ports.ts';

const ORDERED = { ordered: 3 };

/** What the clerk agent decides on. In the part without Secondwind it has no guidance. */
export type ClerkView = Pick<PlannerView, 'goal' | 'steps' | 'guidance'>;

export const ORDER_GOAL = 'Order three pallets of what is short';
export const WATCH_GOAL = 'Watch the shelf until something changes';

/**
 * The scripted planner of the demo. It requests too much at first and changes that only with guidance. The same function decides in
 * every part, with Secondwind and without it.
 */
export function clerkChooses({ goal, steps, guidance }: ClerkView): Choice {
  if (goal === WATCH_GOAL) return { calls: [{ tool: 'warehouse.stock', input: { limit: 10 }, phase: 'watch' }] };
  const isDone = (tool: string) => steps.some((step) => step.tool === tool && step.status !== 'failed');
  if (!isDone('warehouse.stock')) {
    const told = guidance.rows.some((row) => row.text.includes('warehouse.stock'));
    return { calls: [{ tool: 'warehouse.stock', input: { limit: told ? 100 : 500 }, phase: 'look' }] };
  }
  if (!isDone('warehouse.recount')) return { calls: [{ tool: 'warehouse.recount', input: {}, phase: 'count' }] };
  if (!isDone('warehouse.order'))
    return { calls: [{ tool: 'warehouse.order', input: { pallets: 3 }, phase: 'order' }] };
  return { calls: [], output: ORDERED };
}

/** Lessons belong to the name of an agent, so each demo uses a new name and starts without lessons. */
export function clerkAgent(warehouseUrl: string, name: string): Agent {
  const ask = async (path: string, init: RequestInit): Promise<unknown> => {
    const response = await fetch(warehouseUrl + path, init);
    const body = (await response.json()) as { error?: string };
    if (response.ok) return body;
    throw new ToolError(body.error ?? response.statusText, {
      category: 'invalid_input',
      code: `HTTP_${response.status}`,
    });
  };
  const output = z.json();
  return defineAgent({
    name,
    planner: { choose: clerkChooses },
    // Only the result counts, so a failed attempt that succeeded after a retry needs no further pass.
    review: ({ output }) => ({ alignment_score: isDeepStrictEqual(output, ORDERED) ? 1 : 0, drift_score: 0 }),
    policy: {
      budget: { max_steps: 6, max_attempts: 14, max_model_calls: 10 },
      humans: { deadline_ms: 60_000 },
      // Every run of the demo sees the lesson, so that the second run shows what the first one learnt.
      memory: { holdout: 0 },
    },
    tools: [
      defineTool({
        name: 'warehouse.stock',
        effect: 'read',
        input: z.object({ limit: z.int() }),
        output,
        run: async ({ limit }, { signal }) => z.json().parse(await ask(`/stock?limit=${limit}`, { signal })),
      }),
      defineTool({
        name: 'warehouse.recount',
        effect: 'read',
        input: z.object({}),
        output,
        run: async (_input, { signal }) => z.json().parse(await ask('/recount', { signal })),
      }),
      defineTool({
        name: 'warehouse.order',
        effect: 'side_effect',
        input: z.object({ pallets: z.int() }),
        output,
        run: async ({ pallets }, { signal, idempotencyKey }) => {
          const headers = { 'idempotency-key': idempotencyKey };
          const body = JSON.stringify({ pallets });
          return z.json().parse(await ask('/orders', { method: 'POST', headers, body, signal }));
        },
      }),
    ],
  });
}
