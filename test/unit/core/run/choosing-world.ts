/** A run of a planner that chooses, in virtual time, with one function for the planner and one for the tools. */
import { z } from 'zod';
import type { RunResult } from '../../../../src/protocol/run.ts';
import type { PlannerChoice, PlannerView } from '../../../../src/core/run/ports.ts';
import { defineAgent } from '../../../../src/define/define-agent.ts';
import { defineTool } from '../../../../src/define/define-tool.ts';
import { createRegistry } from '../../../../src/define/registry.ts';
import { hashOfJson } from '../../../../src/protocol/ids.ts';
import type { Json } from '../../../../src/protocol/json.ts';
import type { StartMemory } from '../../../../src/protocol/lessons.ts';
import { CAP } from '../../../../src/protocol/caps.ts';
import type { PolicyPatch } from '../../../../src/protocol/schemas/policy.ts';
import type { CallFailed, CallOutcome, CallSucceeded, ToolCallRequest } from '../../../../src/protocol/tools.ts';
import { simulateRun, type Simulated, type World } from '../../../../src/testing/simulator/simulate-run.ts';
import { prepared } from '../../../support/fixtures.ts';

const tool = (name: string, effect: 'read' | 'side_effect' = 'read', more: { evaluates?: boolean } = {}) =>
  defineTool({ name, effect, input: z.json(), output: z.json(), run: () => null, ...more });
const book = defineTool({
  name: 'book',
  effect: 'side_effect',
  input: z.json(),
  output: z.json(),
  run: () => null,
  reconcile: () => ({ verdict: 'unknown' }),
});
const tools = [
  tool('look'),
  tool('search'),
  tool('checked', 'read', { evaluates: true }),
  tool('pay', 'side_effect'),
  book,
];

const registry = createRegistry([
  defineAgent({ name: 'chooser', tools, planner: { choose: () => ({ calls: [] }) } }),
  defineAgent({ name: 'planned', tools }),
]);

export interface ChoosingWorld {
  plan?: (view: PlannerView) => Partial<PlannerChoice>;
  call: (request: ToolCallRequest) => CallOutcome;
  policy?: PolicyPatch;
  memory?: Partial<StartMemory>;
  /** The agent's passes are reviewed by `more.review`. */
  judged?: true;
  /** The name of the model that chooses; absent for a planner in code. */
  model?: string;
  /** A given plan instead of a planner. */
  steps?: { tool: string; input: Json }[];
  more?: Partial<World>;
}

export async function liveChoosing(given: ChoosingWorld): Promise<Simulated & { result: RunResult }> {
  const plan = given.steps && { steps: given.steps.map((step) => ({ phase: 'work', ...step })) };
  const agent = plan === undefined ? 'chooser' : 'planned';
  const run = prepared(
    { agent, goal: 'get there', run_id: 'run-1', policy: given.policy, ...(plan && { plan }) },
    registry,
  );
  const simulated = await simulateRun(
    {
      ...run,
      ...(given.judged && { reviewer: 'own' }),
      model: given.model ?? null,
      memory: { ...run.memory, ...given.memory },
    },
    {
      world: {
        call: given.call,
        plan: (view) => ({
          class: 'ok',
          calls: [],
          tokens: 0,
          cost_micro_usd: 0,
          duration_ms: 1,
          ...given.plan?.(view),
        }),
        ...given.more,
      },
    },
  );
  return simulated;
}

export const succeeded = (output: Json, more: Partial<CallSucceeded> = {}): CallSucceeded => ({
  class: 'ok',
  output,
  inline: true,
  artifact_id: hashOfJson(output),
  bytes: JSON.stringify(output).length,
  duration_ms: 1,
  ...more,
});

export const failed = (code: string, message: string, more: Partial<CallFailed> = {}): CallFailed => ({
  class: 'failed',
  certainty: 'failed',
  origin: 'tool',
  category: 'invalid_input',
  error_code: code,
  message_preview: message.slice(0, CAP.messagePreviewChars),
  duration_ms: 1,
  ...more,
});

export const everyRecord = ({ records, archives }: Simulated) =>
  [...records, ...archives.map((archive) => archive.pending)].flatMap((batch) => batch.records);
export const everyLesson = ({ records, archives }: Simulated) =>
  [...records, ...archives.map((archive) => archive.pending)].flatMap((batch) => batch.lessons);
