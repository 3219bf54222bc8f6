/**
 * What can be read of a run after Temporal has deleted it, as at the end of its retention. Slow, because the server deletes in the
 * background, about 10 s after it is asked to.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import type { FailureItem, GivenRequest, ProjectedStep } from '../../src/client/views.ts';
import { defineAgent } from '../../src/define/define-agent.ts';
import { defineTool } from '../../src/define/define-tool.ts';
import { ToolError } from '../../src/define/tool-error.ts';
import { workflowIdOfRun } from '../../src/protocol/ids.ts';
import { scriptedModel, type ScriptedServer, serveScriptedModel } from '../../src/testing.ts';
import { type ApiWorld, openApiWorld } from '../support/api-world.ts';

const list = defineTool({
  name: 'list',
  effect: 'read',
  input: z.object({ limit: z.int() }),
  output: z.json(),
  run: ({ limit }) => {
    if (limit > 100) throw new ToolError('limit 500 is over 100', { category: 'invalid_input', code: 'HTTP_422' });
    return { limit };
  },
});
const call = (limit: number) => ({ calls: [{ tool: 'list', input: { limit } }] });

let world: ApiWorld;
let model: ScriptedServer;
beforeAll(async () => {
  model = await serveScriptedModel(scriptedModel([call(500), call(100), { text: 'done' }]));
  const endpoint = { base_url: model.url, api_key: 'k', model: 'm' };
  world = await openApiWorld([
    defineAgent({ name: 'archivist', tools: [list] }),
    defineAgent({ name: 'clerk', instructions: 'Work.', model: endpoint, tools: [list] }),
  ]);
  await world.startWorker();
}, 120_000);
afterAll(async () => {
  await world.close();
  await model.close();
});

async function forget(runIds: string[]): Promise<void> {
  const { client } = world;
  const { namespace } = client.options;
  for (const runId of runIds) {
    const workflowExecution = { workflowId: workflowIdOfRun(runId) };
    await client.workflowService.deleteWorkflowExecution({ namespace, workflowExecution });
  }
  const known = async () => {
    const asked = runIds.map((runId) => client.workflow.getHandle(workflowIdOfRun(runId)).describe());
    return (await Promise.allSettled(asked)).filter(({ status }) => status === 'fulfilled').length;
  };
  await expect.poll(known, { timeout: 150_000, interval: 200 }).toBe(0);
}

describe('a run whose history Temporal has deleted', () => {
  it('still has its goal, its plan and the inputs of its steps', { timeout: 180_000 }, async () => {
    const planned = world.newRunId('kept');
    const plan = {
      steps: [
        { id: 'first', phase: 'list', tool: 'list', input: { limit: 2 } },
        { phase: 'list', tool: 'list', input: { limit: 3 }, after: ['first'] },
      ],
    };
    const input = { customer: 'c-17' };
    await world.runs.start({ agent: 'archivist', goal: 'List twice.', run_id: planned, plan, input });
    const chosen = world.newRunId('kept');
    await world.runs.start({ agent: 'clerk', goal: 'Count it.', run_id: chosen });
    for (const run_id of [planned, chosen])
      expect(await world.runs.result(run_id)).toMatchObject({ outcome: 'completed' });
    await forget([planned, chosen]);
    expect((await world.ask('GET', `/v1/runs/${planned}`)).body).toMatchObject({ goal: 'List twice.', state: 'ended' });
    const { body: given } = await world.ask<GivenRequest>('GET', `/v1/runs/${planned}/request`);
    expect(given).toMatchObject({ agent: 'archivist', goal: 'List twice.', plan, input });
    const artifact = await world.fetch(`/v1/artifacts/${given.plan_artifact_id}`);
    expect(await artifact.json()).toEqual(plan);
    const steps = async (runId: string) =>
      (await world.ask<{ steps: ProjectedStep[] }>('GET', `/v1/runs/${runId}/steps`)).body.steps;
    expect((await steps(planned)).map((step) => step.input)).toEqual([{ limit: 2 }, { limit: 3 }]);
    const [failed, worked] = await steps(chosen);
    expect([failed?.input, worked?.input]).toEqual([{ limit: 500 }, { limit: 100 }]);
    // The record of the failure names the same artifact, so it can still be traced to what was called.
    const { body } = await world.ask<{ failures: FailureItem[] }>('GET', `/v1/runs/${chosen}/failures`);
    const [record] = body.failures;
    expect(record?.attempted_action.input_hash).toBe(failed?.input_artifact_id);
    expect(await (await world.fetch(`/v1/artifacts/${failed?.input_artifact_id}`)).json()).toEqual({ limit: 500 });
  });
});
