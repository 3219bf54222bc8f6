/** Runs that are started past our doors, as `temporal workflow start` does, take the name of their family like all others. */
import { WorkflowIdReusePolicy } from '@temporalio/client';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { FamilyTakenError } from '../../src/protocol/errors.ts';
import { demoAgent } from '../../src/cli/demo/demo-agent.ts';
import { defaultLoopId, workflowIdOfRun } from '../../src/protocol/ids.ts';
import { WORKFLOW_TYPE } from '../../src/protocol/names.ts';
import type { RunResult } from '../../src/protocol/run.ts';
import { openRunWorld, type RunWorld } from '../support/run-world.ts';

let world: RunWorld;
beforeAll(async () => {
  world = await openRunWorld([demoAgent]);
  await world.startWorker();
});
afterAll(() => world.close());

async function startBare(runId: string, more: { loop_id?: string } = {}): Promise<RunResult> {
  const handle = await world.client.workflow.start(WORKFLOW_TYPE.agentRun, {
    workflowId: workflowIdOfRun(runId),
    taskQueue: world.taskQueue,
    workflowIdReusePolicy: WorkflowIdReusePolicy.ALLOW_DUPLICATE,
    args: [{ agent: 'demo', goal: 'try it', plan: PLAN, ...more }],
  });
  return (await handle.result()) as RunResult;
}
const PLAN = { steps: [{ phase: 'work', tool: 'demo.flaky', input: { fail_times: 0 } }] };
const owner = async (family: string) => (await world.store.reservations.ownerOf(family))?.run_id;

describe('a run from the bare command line', () => {
  it('has its name to itself, whether it chose one or not', async () => {
    const [runId, named] = [world.newRunId('bare'), world.newRunId('bare-named')];
    expect(await startBare(runId)).toMatchObject({ outcome: 'completed' });
    expect(await owner(defaultLoopId(runId))).toBe(runId);
    expect(await startBare(named, { loop_id: `${named}-loops` })).toMatchObject({ outcome: 'completed' });
    expect(await owner(`${named}-loops`)).toBe(named);
    const late = world.runs.start({ agent: 'demo', goal: 'x', plan: PLAN, loop_id: `${named}-loops` });
    await expect(late).rejects.toThrow(FamilyTakenError);
  });

  it.each([
    ['a guard', null],
    ['the run somebody', 'somebody'],
  ])('that wants the name of %s ends at once and says so', async (who, run_id) => {
    const runId = world.newRunId('late');
    const family = `${runId}-taken`;
    await world.store.reservations.reserve({ run_id, loop_id: family }, () => Promise.resolve(true));
    expect(await startBare(runId, { loop_id: family })).toMatchObject({
      outcome: 'system_error',
      why: `$.loop_id: The name ${family} belongs to ${who}; choose another loop_id`,
      used: { attempts: 0 },
    });
    expect(await owner(family)).toBe(run_id);
  });

  it('keeps its name when it is started once more', async () => {
    const runId = world.newRunId('again');
    const loop_id = `${runId}-loops`;
    await startBare(runId, { loop_id });
    expect(await startBare(runId, { loop_id })).toMatchObject({ outcome: 'completed' });
    expect(await owner(loop_id)).toBe(runId);
  });
});
