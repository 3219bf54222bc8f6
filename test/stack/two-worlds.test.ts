/**
 * Every scenario in both worlds, on a real Temporal and Postgres. Proves that the simulator tells the truth about runs;
 * times are the one thing that differs, so they are the one thing left out.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { failuresOf } from '../../src/core/run/read-failures.ts';
import { statusOf } from '../../src/core/run/status.ts';
import { buildLoopTrace } from '../../src/core/guardrails/loop-trace.ts';
import { liveInSimulator } from '../scenarios/live-in-simulator.ts';
import { liveOnTemporal } from '../scenarios/live-on-temporal.ts';
import { withoutTimes } from '../scenarios/normalise.ts';
import { scenarios } from '../scenarios/scenarios.ts';
import { scriptedAgents } from '../scenarios/scripted-agents.ts';
import { openRunWorld, type RunWorld } from '../support/run-world.ts';
import { resultOfRun } from '../../src/core/run/life.ts';

let world: RunWorld;
beforeAll(async () => {
  world = await openRunWorld(scriptedAgents);
  await world.startWorker();
});
afterAll(() => world.close());

// Many share one worker, and the machine may be busy.
describe.concurrent.each(scenarios)('$name', { timeout: 120_000 }, (scenario) => {
  it(`the scenario "${scenario.name}" ends in the same state, with the same records, in the simulator and on Temporal`, async () => {
    const runId = world.newRunId('two');
    const simulated = await liveInSimulator(scenario, world.registry, runId);
    const lived = await liveOnTemporal(scenario, world, runId);
    const { state } = simulated;
    expect(withoutTimes(lived)).toEqual(
      withoutTimes({
        result: resultOfRun(state),
        status: statusOf(state),
        failures: failuresOf(state),
        trace: buildLoopTrace(state.guard),
      }),
    );
    const batches = [...simulated.records, ...simulated.archives.map((archive) => archive.pending)];
    const expected = batches.flatMap((batch) => batch.records).sort(byId);
    const stored = (await world.store.records.forRun(runId)).sort(byId);
    expect(withoutTimes(stored)).toEqual(withoutTimes(expected));
  });

  it('ends in the same state when it is handed over on the way', async () => {
    const runId = world.newRunId('handed');
    const { state } = await liveInSimulator(scenario, world.registry, runId);
    const lived = await liveOnTemporal(scenario, world, runId, 8);
    expect(withoutTimes(lived.result)).toEqual(withoutTimes(resultOfRun(state)));
    expect(withoutTimes(lived.failures)).toEqual(withoutTimes(failuresOf(state)));
  });
});

const byId = (one: { failure_id: string }, other: { failure_id: string }) =>
  one.failure_id < other.failure_id ? -1 : 1;
