/** Agents whose runs behave as the tests of the API and the CLI need it. */
import { z } from 'zod';
import { defineAgent } from '../../src/define/define-agent.ts';
import { defineTool } from '../../src/define/define-tool.ts';
import { demoAgent } from '../../src/cli/demo/demo-agent.ts';

/** Runs until it is told to stop, and then for `stop_ms` more. */
const endless = defineTool({
  name: 'endless',
  effect: 'read',
  input: z.strictObject({ stop_ms: z.int() }),
  output: z.json(),
  timeoutMs: 120_000,
  run: async ({ stop_ms }, { signal }) => {
    await new Promise<void>((resolve) => signal.addEventListener('abort', () => setTimeout(resolve, stop_ms)));
    throw signal.reason;
  },
});
export const endlessAgent = defineAgent({ name: 'endless', tools: [endless] });
export const endlessPlan = (stop_ms = 0) => ({ steps: [{ phase: 'work', tool: 'endless', input: { stop_ms } }] });

/** Its first pass gets a low score; the goal decides the score of each later one. */
export const judgedAgent = defineAgent({
  name: 'judged',
  tools: demoAgent.tools,
  plan: { steps: [{ phase: 'work', tool: 'demo.flaky', input: { fail_times: 0 } }] },
  review: ({ loop_id, goal }) => {
    const isFirst = !/_r\d+$/.test(loop_id);
    const alignment_score = isFirst || goal === 'never good' ? 0.6 : 0.9;
    return { alignment_score, drift_score: 0.1, summary_valid: true, reflection_persona: 'SAGE', bias_tags: ['haste'] };
  },
});

export const apiAgents = [demoAgent, endlessAgent, judgedAgent];
