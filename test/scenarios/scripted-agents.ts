import { agentTool } from '../../src/define/agent-tool.ts';
import { defineAgent } from '../../src/define/define-agent.ts';
import { scriptedPlanner } from '../../src/testing.ts';
import { scriptedTools } from './scripted-tools.ts';

const failing = (code: string) => ({ tool: 'script.put', input: { attempts: [{ fail: 'auth' as const, code }] } });
const working = (value: string) => ({ tool: 'script.read', input: { attempts: [{ ok: value }] } });

const scout = defineAgent({
  name: 'scout',
  tools: scriptedTools,
  planner: scriptedPlanner(({ turn, input }) =>
    turn === 1 ? { calls: [working('seen')], tokens: 100 } : { calls: [], output: { told: input ?? null }, tokens: 50 },
  ),
});
const askFor = (tool: string, goal: string) => ({ tool, input: { goal, input: { about: goal } } });

export const scriptedAgents = [
  defineAgent({ name: 'scripted', tools: scriptedTools }),
  defineAgent({
    name: 'chooser',
    tools: scriptedTools,
    planner: scriptedPlanner((view) => {
      const isFirstPass = !/_r\d+$/.test(view.loop_id);
      if (view.turn === 1 && isFirstPass) return { calls: [failing('FIRST'), working('beside it')] };
      if (view.turn === 1) return { calls: [working('known by now')] };
      return { calls: [], output: { found: view.steps.some((step) => step.status === 'ok') } };
    }),
  }),
  defineAgent({
    name: 'adapter',
    tools: scriptedTools,
    planner: scriptedPlanner(({ turn }) => {
      if (turn === 1) return { calls: [failing('FIRST')] };
      if (turn === 2) return { calls: [working('another way')] };
      return { calls: [], output: 'found' };
    }),
  }),
  defineAgent({
    name: 'tester',
    tools: scriptedTools,
    // Mends exactly what the failed call printed: without its output it would try the wrong thing again and again.
    planner: scriptedPlanner(({ turn, steps }) => {
      if (turn > 2) return { calls: [], output: 'mended' };
      const printed = steps.at(-1)?.output;
      const broken = typeof printed === 'string' ? /FAIL (\w+)/.exec(printed)?.[1] : undefined;
      if (broken !== undefined) return { calls: [working(`mended ${broken}`)] };
      const output = `ok one\nFAIL sums\nok two`;
      return { calls: [{ tool: 'script.read', input: { attempts: [{ fail: 'invalid_input' as const, output }] } }] };
    }),
  }),
  defineAgent({
    name: 'listener',
    tools: scriptedTools,
    planner: scriptedPlanner(({ guidance, steps }) => {
      if (steps.some(({ status }) => status === 'ok')) return { calls: [], output: 'done as told' };
      const isTold = guidance.rows[0]?.text.includes('use the other account') === true;
      return { calls: [isTold ? working('the other account') : failing('CLOSED')] };
    }),
  }),
  defineAgent({
    name: 'thrifty',
    tools: scriptedTools,
    planner: scriptedPlanner(({ turn, guidance }) =>
      guidance.text.includes('budgets run out')
        ? { calls: [], output: 'enough' }
        : { calls: [working(`more ${turn}`)] },
    ),
  }),
  defineAgent({
    name: 'payer',
    tools: scriptedTools,
    planner: scriptedPlanner(({ turn, loop_id }) => {
      const pay = { tool: 'script.pay', input: { attempts: [{ ok: 'paid' }] } };
      if (turn === 1) return { calls: [pay] };
      const isFirstPass = !/_r\d+$/.test(loop_id);
      if (turn === 2) return { calls: [isFirstPass ? failing('THEN') : working('then')] };
      return { calls: [], output: 'paid for' };
    }),
  }),
  defineAgent({
    name: 'repeater',
    tools: scriptedTools,
    planner: scriptedPlanner(({ turn, loop_id, steps }) => {
      const pay = { tool: 'script.pay', input: { attempts: [{ fail: 'network', certainty: 'unknown' }] } };
      // The identical call in the first two turns of each pass, whatever it was told.
      if (turn <= 2 && !steps.some(({ status }) => status === 'ok')) return { calls: [pay] };
      const isFirstPass = !/_r\d+$/.test(loop_id);
      const hasTried = steps.some(({ tool }) => tool !== 'script.pay');
      if (!hasTried) return { calls: [isFirstPass ? failing('THEN') : working('then')] };
      return { calls: [], output: steps.map(({ status }) => status) };
    }),
  }),
  defineAgent({
    name: 'stubborn',
    tools: scriptedTools,
    planner: scriptedPlanner(() => ({ calls: [failing('SAME')] })),
  }),
  defineAgent({
    name: 'reader',
    tools: scriptedTools,
    planner: scriptedPlanner(() => ({ calls: [working('the same')] })),
  }),
  defineAgent({
    name: 'circler',
    tools: scriptedTools,
    planner: scriptedPlanner(({ turn }) => ({ calls: [working(['one', 'two', 'three'][turn % 3] ?? '')] })),
  }),
  defineAgent({
    name: 'seeker',
    tools: scriptedTools,
    // Every search is another one, and none finds anything.
    planner: scriptedPlanner(({ turn }) => ({ calls: [working(`No entry ${turn} found: not found`)] })),
  }),
  defineAgent({
    name: 'flooder',
    tools: scriptedTools,
    planner: scriptedPlanner(({ turn }) =>
      turn === 1 ? { calls: Array.from({ length: 6 }, () => working('the same')) } : { calls: [], output: 'enough' },
    ),
  }),
  defineAgent({
    name: 'talker',
    tools: scriptedTools,
    planner: scriptedPlanner(() => ({ calls: [], more: true, message: 'Let me think about it.' })),
  }),
  defineAgent({
    name: 'never_content',
    tools: scriptedTools,
    plan: { steps: [{ phase: 'work', ...working('as good as it gets') }] },
    review: () => ({ alignment_score: 0.5, drift_score: 0 }),
  }),
  defineAgent({
    name: 'boss',
    tools: [
      ...scriptedTools,
      agentTool(scout),
      agentTool(
        defineAgent({
          name: 'spender',
          tools: scriptedTools,
          planner: scriptedPlanner(({ turn }) => ({ calls: [working(`more ${turn}`)], tokens: 10 })),
        }),
      ),
    ],
    planner: scriptedPlanner(({ turn }) => {
      if (turn === 1) return { calls: [askFor('scout', 'north'), askFor('scout', 'south'), working('beside them')] };
      if (turn === 2) return { calls: [askFor('spender', 'never stop')] };
      return { calls: [], output: 'told by others' };
    }),
  }),
  defineAgent({
    name: 'inventor',
    tools: scriptedTools,
    planner: scriptedPlanner(() => ({ calls: [{ tool: 'no.such.tool', input: {} }] })),
  }),
];
