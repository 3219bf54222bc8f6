/**
 * That nothing on the way to a tool changes its input, its name or its ids, however much they look like secrets: whole runs
 * in the simulator, with the real code around tools. `SECONDWIND_EXACT_RUNS=10000` lives more of them. Needs nothing;
 * test/stack/exact-data.test.ts does the same on Temporal.
 */
import { expect, it } from 'vitest';
import { executeTool } from '../../../src/activities/tools/execute-tool.ts';
import { createRedactor } from '../../../src/core/redaction/redact.ts';
import { resultOfRun } from '../../../src/core/run/life.ts';
import { createRegistry } from '../../../src/define/registry.ts';
import { simulateRun } from '../../../src/testing/simulator/simulate-run.ts';
import { prepared } from '../../support/fixtures.ts';
import { echoAgents, type Received, secretRun, type SecretRun } from '../../support/secret-runs.ts';
import { quietEnvironment } from '../../support/thinking.ts';

const RUNS = Number(process.env['SECONDWIND_EXACT_RUNS'] ?? 300);

const received: Received[] = [];
const registry = createRegistry(echoAgents(received));

async function live({ request, secrets }: SecretRun, seed: number) {
  const redact = createRedactor(secrets.slice(0, 5));
  received.length = 0;
  const { state } = await simulateRun(prepared(request, registry), {
    seed,
    handOverShare: 0.3,
    world: {
      call: (asked) => {
        const tool = registry.tools.get(asked.tool);
        if (tool === undefined) throw new TypeError(`no tool named ${asked.tool}`);
        return executeTool(tool, asked, { ...quietEnvironment, redact });
      },
    },
  });
  const { outcome, used, loops, result } = resultOfRun(state) ?? { result: null };
  return {
    inputs: received.map(({ text }) => text),
    keys: received.map(({ key }) => key),
    outcome,
    used,
    loops,
    result,
  };
}

it(
  `${RUNS} runs full of secrets give their tools byte-equal inputs and end like their twins`,
  { timeout: 30_000 + RUNS * 100 },
  async () => {
    const keys = new Set<string>();
    for (let index = 0; index < RUNS; index += 1) {
      const run = secretRun(index, 'sim');
      const lived = await live(run, index);
      expect(lived.inputs).toEqual(run.inputs);
      for (const key of lived.keys) keys.add(key);
      const twin = await live(secretRun(index, 'sim', true), index);
      expect([lived.outcome, lived.used, lived.loops]).toEqual([twin.outcome, twin.used, twin.loops]);
      expect(lived.outcome).toBe('completed');
      expect(JSON.stringify(lived.result?.output)).toBe(run.inputs[2]);
    }
    // No two calls share an idempotency key.
    expect(keys.size).toBe(RUNS * 3);
  },
);
