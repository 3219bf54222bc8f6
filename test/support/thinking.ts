/**
 * Agents with a model, in virtual time: the story, the real planner turn, real tools, and a scripted model in this
 * process.
 */
import { askReviewer } from '../../src/activities/review.ts';
import type { ToolEnvironment } from '../../src/activities/tools/tool-environment.ts';
import { executeTool } from '../../src/activities/tools/execute-tool.ts';
import type { PlannerView } from '../../src/core/run/ports.ts';
import type { Agent } from '../../src/define/define-agent.ts';
import { createRegistry } from '../../src/define/registry.ts';
import { planTurn } from '../../src/model/plan-turn.ts';
import type { MessageStore } from '../../src/model/transcript-store.ts';
import type { Json } from '../../src/protocol/json.ts';
import type { RunRequest } from '../../src/protocol/run.ts';
import { simulateRun, type World } from '../../src/testing/simulator/simulate-run.ts';
import { prepared } from './fixtures.ts';
import { resultOfRun } from '../../src/core/run/life.ts';

/** The minimum that a turn and a tool need from their caller. Time stands still inside of them. */
export const quietEnvironment: ToolEnvironment = {
  signal: new AbortController().signal,
  stopped: () => null,
  heartbeat: () => undefined,
  loadArtifact: async () => undefined,
  waitForStore: (_purpose, ask) => ask(),
  saveArtifact: async () => undefined,
  log: () => undefined,
  redact: (text) => text,
  now: () => 0,
};

export function messageStoreInMemory(): MessageStore {
  const kept = new Map<string, Json>();
  return {
    getMany: async (ids) => new Map(ids.flatMap((id) => (kept.has(id) ? [[id, kept.get(id) as Json]] : []))),
    putMany: async (artifacts) => {
      for (const { id, text } of artifacts) kept.set(id, JSON.parse(text) as Json);
    },
  };
}

/** Simulates a run of the first agent. The others are only registered, as on a worker that serves many agents. */
export async function liveThinking(
  [agent, ...others]: [Agent, ...Agent[]],
  request: Partial<RunRequest> = {},
  more: Partial<World> & { turnMs?: number } = {},
) {
  const registry = createRegistry([agent, ...others]);
  const store = messageStoreInMemory();
  const views: PlannerView[] = [];
  const { turnMs, ...world } = more;
  const simulated = await simulateRun(
    prepared({ agent: agent.name, goal: 'Add 2 and 3', run_id: 'run-1', ...request }, registry),
    {
      world: {
        call: (asked) => {
          const tool = registry.tools.get(asked.tool);
          if (tool === undefined) throw new TypeError(`no tool named ${asked.tool} on this worker`);
          return executeTool(tool, asked, quietEnvironment);
        },
        plan: (view) => {
          views.push(view);
          const timeout_ms = turnMs ?? view.timeout_ms;
          return planTurn(agent, { ...view, timeout_ms }, { ...quietEnvironment, store, environment: {} });
        },
        review: (view) => askReviewer(agent, view, { ...quietEnvironment, environment: {} }),
        ...world,
      },
    },
  );
  return { ...simulated, result: resultOfRun(simulated.state), views, registry };
}
