/** Every scenario in the simulated world, straight and with its state sent through JSON between batches. */
import { describe, expect, it } from 'vitest';
import { createRegistry } from '../../../../src/define/registry.ts';
import { liveInSimulator } from '../../../scenarios/live-in-simulator.ts';
import { scenarios } from '../../../scenarios/scenarios.ts';
import { scriptedAgents } from '../../../scenarios/scripted-agents.ts';
import { resultOfRun } from '../../../../src/core/run/life.ts';

const registry = createRegistry(scriptedAgents);

describe.each(scenarios)('$name', (scenario) => {
  it(`the scenario "${scenario.name}" ends as expected`, async () => {
    const { state } = await liveInSimulator(scenario, registry, 'run-1');
    expect(resultOfRun(state)).toMatchObject(scenario.expect);
    expect(resultOfRun(state)?.used.attempts).toBeLessThanOrEqual(state.run.bound.attempts);
  });

  it(`the scenario "${scenario.name}" ends in the same state when it is handed over at random batch boundaries`, async () => {
    const straight = await liveInSimulator(scenario, registry, 'run-1');
    for (const seed of [1, 2, 3]) {
      const handed = await liveInSimulator(scenario, registry, 'run-1', { seed, handOverShare: 0.5 });
      expect(handed.state).toEqual(JSON.parse(JSON.stringify(straight.state)));
    }
  });
});
