import { askPlanner } from '../../src/activities/ask-planner.ts';
import { askReviewer } from '../../src/activities/review.ts';
import type { ToolEnvironment } from '../../src/activities/tools/tool-environment.ts';
import { checkGivenOutput } from '../../src/activities/tools/check-given-output.ts';
import { executeTool, reconcileTool } from '../../src/activities/tools/execute-tool.ts';
import type { RunState } from '../../src/core/run/state.ts';
import { problemsOf } from '../../src/define/zod-problems.ts';
import type { Registry } from '../../src/define/registry.ts';
import { simulateRun, type Simulated, type World } from '../../src/testing/simulator/simulate-run.ts';
import { simulateSubRun } from '../../src/testing/simulator/sub-run.ts';
import { prepared } from '../support/fixtures.ts';
import type { Scenario } from './scenarios.ts';

const environment: ToolEnvironment = {
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

/**
 * Executes the scenario in virtual time. Its state is converted to JSON and back at about `handOverShare` of the batch
 * boundaries.
 */
export function liveInSimulator(
  scenario: Scenario,
  registry: Registry,
  runId: string,
  options: { seed?: number; handOverShare?: number } = {},
): Promise<Simulated> {
  const run = prepared({ ...scenario.request, run_id: runId }, registry);
  return simulateRun(run, { world: worldOf(registry, scenario), ...options });
}

/** Continues from a state that was handed over, without any message from people. */
export const liveOnInSimulator = (state: RunState, registry: Registry): Promise<Simulated> =>
  simulateRun(state.run, { world: worldOf(registry, {}), from: state });

function worldOf(registry: Registry, scenario: Pick<Scenario, 'answers' | 'atOnce' | 'whileAsked'>): World {
  const toolOf = (name: string) => {
    const tool = registry.tools.get(name);
    if (tool === undefined) throw new Error(`no tool ${name}`);
    return tool;
  };
  let asked = 0;
  let started = false;
  const world: World = {
    // A call takes a moment, so what was sent at once is there before it ends, as in the real world.
    call: async (request) => ({ ...(await executeTool(toolOf(request.tool), request, environment)), duration_ms: 1 }),
    reconcile: (request) => reconcileTool(toolOf(request.tool), request, environment),
    checkOutput: (request) => checkGivenOutput(toolOf(request.tool), request, environment),
    checkInput: ({ tool, input }) => {
      const parsed = toolOf(tool).input.safeParse(input);
      return parsed.success ? { ok: true } : { ok: false, problems: problemsOf(parsed.error, '$.input') };
    },
    plan: (view) => {
      const agent = registry.agents.get(view.agent);
      return askPlanner(agent?.planner, view, environment, agent?.tools);
    },
    // Nobody speaks to those who work for it: scenarios are about one run's people.
    subRun: async (request) =>
      (await simulateSubRun(request, registry, () => ({ ...world, react: () => undefined }))).outcome,
    review: (view) => askReviewer(registry.agents.get(view.agent), view, { ...environment, environment: {} }),
    react: (shown, send) => {
      if (!started) for (const message of scenario.atOnce ?? []) send(0, message.type, message.body);
      started = true;
      if (shown.question === null || !shown.question.question_id.endsWith(`q${asked + 1}`)) return;
      asked += 1;
      for (const message of scenario.whileAsked?.[asked] ?? []) send(5, message.type, message.body);
      const reply = scenario.answers?.[asked];
      if (reply !== undefined) send(10, reply.type, { question_id: shown.question.question_id, ...reply.body });
    },
  };
  return world;
}
