import { z } from 'zod';
import { prepareRun } from '../../src/define/prepare-run.ts';
import { createRegistry, type Registry } from '../../src/define/registry.ts';
import { defineAgent } from '../../src/define/define-agent.ts';
import { defineTool } from '../../src/define/define-tool.ts';
import type { PreparedRun, RunRequest } from '../../src/protocol/run.ts';

/** Prepares a request, or fails the test with its problems. */
export function prepared(request: RunRequest, registry: Registry, runId = 'run-1'): PreparedRun {
  const outcome = prepareRun(request, registry, request.run_id ?? runId);
  if (!outcome.ok) throw new Error(outcome.problems.map((problem) => `${problem.path}: ${problem.message}`).join('\n'));
  return outcome.prepared;
}

const anything = { input: z.json(), output: z.json(), run: () => null };

/** Tools of each effect. A simulated world decides how they behave. */
export const plainRegistry = createRegistry([
  defineAgent({
    name: 'plain',
    tools: [
      defineTool({ name: 'look', effect: 'read', ...anything }),
      defineTool({ name: 'put', effect: 'idempotent', ...anything }),
      defineTool({ name: 'pay', effect: 'side_effect', ...anything }),
      defineTool({
        name: 'book',
        effect: 'side_effect',
        ...anything,
        reconcile: () => ({ verdict: 'unknown' as const }),
      }),
      defineTool({ name: 'launch', effect: 'side_effect', ...anything, approval: true }),
    ],
  }),
  defineAgent({
    name: 'chooser',
    tools: [],
    planner: { choose: () => ({ calls: [] }) },
  }),
]);
