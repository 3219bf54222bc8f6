import { isDeepStrictEqual } from 'node:util';
import { z } from 'zod';
import { type Agent, type Choice, defineAgent } from '../../define/define-agent.ts';
import { defineTool } from '../../define/define-tool.ts';
import { ToolError } from '../../define/tool-error.ts';
import type { PlannerView } from '../../core/run/ports.ts';

const ORDERED = { ordered: 3 };

/** What the clerk looks at before it decides; alone it has no guidance to look at. */
export type ClerkView = Pick<PlannerView, 'goal' | 'steps' | 'guidance'>;

export const ORDER_GOAL = 'Order three pallets of what is short';
export const WATCH_GOAL = 'Watch the shelf until something changes';

/**
 * The scripted agent of the demo: it asks for too much at first and changes its mind only when something tells it to.
 * The same function decides in every part, with Secondwind and without.
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

/** Its name is the memory that it learns into: each demo has one of its own, so that its first day is a first day. */
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
    // A first try that was mended is no reason to do it all again: what counts is that the order was seen to.
    review: ({ output }) => ({ alignment_score: isDeepStrictEqual(output, ORDERED) ? 1 : 0, drift_score: 0 }),
    policy: { budget: { max_steps: 6, max_attempts: 14, max_model_calls: 10 }, humans: { deadline_ms: 60_000 } },
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
