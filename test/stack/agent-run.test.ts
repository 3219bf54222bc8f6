/** The agentRun workflow on a real Temporal server and a real Postgres. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { demoAgent } from '../../src/cli/demo/demo-agent.ts';
import { openRunWorld, type RunWorld } from '../support/run-world.ts';

let world: RunWorld;
beforeAll(async () => {
  world = await openRunWorld([demoAgent]);
  await world.startWorker();
});
afterAll(() => world.close());

const flaky = (fail_times: number, error_code?: string) => ({
  steps: [{ phase: 'demo', tool: 'demo.flaky', input: { fail_times, ...(error_code && { error_code }) } }],
});

describe('a run on Temporal', () => {
  it('fails once, learns, and completes', async () => {
    const run_id = world.newRunId('learns');
    await world.runs.start({ agent: 'demo', goal: 'try', run_id, policy: { retry: { base_ms: 50 } } });
    const result = await world.runs.result(run_id);
    expect(result).toMatchObject({
      outcome: 'completed',
      used: { steps: 1, attempts: 2 },
      failures: { total: 1, active: 0 },
    });
    const records = await world.store.records.forRun(run_id);
    expect(records.map((record) => record.failure_id)).toEqual([`${run_id}:s1:a1:f0`]);
  });

  it('waits for a person and goes on as told', async () => {
    const run_id = world.newRunId('asks');
    await world.runs.start({ agent: 'demo', goal: 'try', run_id, plan: flaky(1, 'auth') });
    const question = await expect
      .poll(async () => (await world.runs.get(run_id)).pending_question)
      .toBeDefined()
      .then(async () => (await world.runs.get(run_id)).pending_question);
    const answer = await world.runs.answer(run_id, {
      question_id: question?.question_id ?? '',
      decision: 'retry',
      by: 'ada',
    });
    expect(answer).toMatchObject({ accepted: true });
    expect(await world.runs.result(run_id)).toMatchObject({ outcome: 'completed', used: { attempts: 2 } });
  });
});
