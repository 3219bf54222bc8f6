import { defined } from '../../../protocol/json.ts';
import { z } from 'zod';
import type { PlannerView } from '../../../core/run/ports.ts';
import { agentTool } from '../../../define/agent-tool.ts';
import { type Agent, type Choice, defineAgent } from '../../../define/define-agent.ts';
import { defineTool, type ToolDefinition } from '../../../define/define-tool.ts';
import { ToolError } from '../../../define/tool-error.ts';
import { drawTurn } from './planner-behaviour.ts';
import { drawReview } from './reviewer-behaviour.ts';
import { type Scene, seedOfGoal, seedOfInput } from './scene.ts';
import { drawBehaviour, type Failing, reconcileVerdict } from './tool-behaviour.ts';
import { ASK_HELPER, HOSTILE_TOOLS } from './tool-table.ts';

const input = z.object({ seed: z.number(), n: z.number() });
const output = z.union([z.number(), z.string()]);
type Definition = ToolDefinition<z.infer<typeof input>, z.infer<typeof output>>;

/** The hostile world as tools, planners and reviewers that any worker can run. The seed travels with every input. */
export function createHostileAgents(sceneOf: (seed: number) => Scene): Agent[] {
  const run: Definition['run'] = ({ seed }, context) => {
    const behaviour = drawBehaviour(sceneOf(seed), context.stepId, context.attempt);
    if (behaviour.kind === 'ok') return behaviour.output;
    // The output is meant to violate the schema.
    if (behaviour.kind === 'bad_output') return null as unknown as string;
    throw thrown(behaviour);
  };
  const reconcile: Definition['reconcile'] = ({ seed }, { stepId, attempt }) => {
    const verdict = reconcileVerdict(sceneOf(seed), stepId, attempt);
    return verdict === 'done' ? { verdict, output: 0 } : { verdict };
  };
  const tools = HOSTILE_TOOLS.map(({ reconcile: canTell, ...tool }) =>
    defineTool({ ...tool, input, output, run, ...(canTell && { reconcile }) }),
  );
  const planner: Agent['planner'] = {
    choose: (view) => chosen(sceneOf(seedOfGoal(view.goal)), view),
  };
  // The helper's goal is longer than the seed, so the seed travels in its input.
  const helping: Agent['planner'] = { choose: (view) => chosen(sceneOf(seedOfInput(view.input)), view) };
  const helper = defineAgent({ name: 'hostile.helper', tools, planner: helping, policy: PATIENT });
  const asking = [...tools, agentTool(helper, { name: ASK_HELPER })];
  const review: Agent['review'] = (view) => drawReview(sceneOf(seedOfGoal(view.goal)), view.loop_id);
  return [
    defineAgent({ name: 'hostile', tools: asking }),
    defineAgent({ name: 'hostile.judged', tools: asking, review }),
    defineAgent({ name: 'hostile.chooser', tools: asking, planner }),
    defineAgent({ name: 'hostile.chooser.judged', tools: asking, planner, review }),
  ];
}

/** May wait longer than its caller, and does less work, because thousands of these runs are simulated. */
const PATIENT = {
  retry: { base_ms: 5_000, max_wait_ms: 600_000, server_error: 5 },
  budget: { max_steps: 8, max_attempts: 16, max_model_calls: 6 },
};

function chosen(scene: Scene, view: PlannerView): Choice {
  const turn = drawTurn(scene, view);
  if (turn.kind === 'fail') throw thrown(turn);
  const { kind: _kind, ...choice } = turn;
  return choice;
}

const thrown = ({ category, certainty, code, message, retryAfterMs }: Failing) =>
  new ToolError(message, {
    category,
    ...defined({ certainty }),
    code,
    ...defined({ retryAfterMs }),
  });
