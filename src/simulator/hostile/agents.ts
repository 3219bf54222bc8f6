import { z } from 'zod';
import { type Agent, defineAgent } from '../../define/define-agent.ts';
import { defineTool, type ToolDefinition } from '../../define/define-tool.ts';
import { ToolError } from '../../define/tool-error.ts';
import { turnOf } from './planner-behaviour.ts';
import { reviewBy } from './reviewer-behaviour.ts';
import { type Scene, seedOfGoal } from './scene.ts';
import { behaviourOf, type Failing, reconcileVerdict } from './tool-behaviour.ts';
import { HOSTILE_TOOLS } from './tool-table.ts';

const input = z.object({ seed: z.number(), n: z.number() });
const output = z.union([z.number(), z.string()]);
type Definition = ToolDefinition<z.infer<typeof input>, z.infer<typeof output>>;

/** The hostile world as tools, planners and reviewers that any worker can run: the seed travels with every input. */
export function hostileAgents(sceneOf: (seed: number) => Scene): Agent[] {
  const run: Definition['run'] = ({ seed }, context) => {
    const behaviour = behaviourOf(sceneOf(seed), stepOf(context.idempotencyKey), context.attempt);
    if (behaviour.kind === 'ok') return behaviour.output;
    // What the schema refuses is the point of it.
    if (behaviour.kind === 'bad_output') return null as unknown as string;
    throw thrown(behaviour);
  };
  const reconcile: Definition['reconcile'] = ({ seed }, { idempotencyKey, attempt }) => {
    const verdict = reconcileVerdict(sceneOf(seed), stepOf(idempotencyKey), attempt);
    return verdict === 'done' ? { verdict, output: 0 } : { verdict };
  };
  const tools = HOSTILE_TOOLS.map(({ reconcile: canTell, ...tool }) =>
    defineTool({ ...tool, input, output, run, ...(canTell && { reconcile }) }),
  );
  const planner: Agent['planner'] = {
    choose: (view) => {
      const turn = turnOf(sceneOf(seedOfGoal(view.goal)), view);
      if (turn.kind === 'fail') throw thrown(turn);
      const { kind: _kind, ...choice } = turn;
      return choice;
    },
  };
  const review: Agent['review'] = (view) => reviewBy(sceneOf(seedOfGoal(view.goal)), view.loop_id);
  return [
    defineAgent({ name: 'hostile', tools }),
    defineAgent({ name: 'hostile.judged', tools, review }),
    defineAgent({ name: 'hostile.chooser', tools, planner }),
    defineAgent({ name: 'hostile.chooser.judged', tools, planner, review }),
  ];
}

/** The key of a step is its run and its number. */
const stepOf = (idempotencyKey: string): number => Number(idempotencyKey.split(':').at(-1));

const thrown = ({ category, certainty, code, message, retryAfterMs }: Failing) =>
  new ToolError(message, { category, certainty, code, ...(retryAfterMs !== undefined && { retryAfterMs }) });
