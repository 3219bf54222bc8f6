/** The worked families of loops through agentRun on a real Temporal: own reviewer as an activity, overrides as updates. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { workflowIdOfRun } from '../../src/protocol/ids.ts';
import { QUERY } from '../../src/protocol/names.ts';
import { expectedTrace, families, judgedAgent, readTrace, requestOf } from '../scenarios/families.ts';
import { openRunWorld, type RunWorld } from '../support/run-world.ts';

let world: RunWorld;
beforeAll(async () => {
  const agent = judgedAgent(async (runId, body) => {
    await world.runs.override(runId, body as Parameters<RunWorld['runs']['override']>[1]);
  });
  world = await openRunWorld([agent]);
  await world.startWorker();
});
afterAll(() => world.close());

describe.concurrent.each(families)('the family $family', (family) => {
  it('is decided pass by pass as the vectors say', async () => {
    const run_id = world.newRunId(family.family);
    await world.runs.start({ ...requestOf(family), run_id });
    const result = await world.runs.result(run_id);
    const handle = world.client.workflow.getHandle(workflowIdOfRun(run_id));
    const { trace } = await handle.query<{ trace: unknown }>(QUERY.trace);
    expect(readTrace(trace)).toEqual(expectedTrace(family));
    expect(result).toMatchObject({ loops: family.loops.length, reason: family.loops.at(-1)?.expect.reason });
  });
});
