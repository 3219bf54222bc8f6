/** What people do to runs over HTTP, on a real Temporal, store and worker. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { StartedRun } from '../../src/client/views.ts';
import type { OverrideEntry } from '../../src/core/guardrails/overrides.ts';
import type { ReasonedTraceItem } from '../../src/core/guardrails/loop-trace.ts';
import type { RunStatus } from '../../src/protocol/run.ts';
import { apiAgents, endlessPlan } from '../support/api-agents.ts';
import { type ApiWorld, openApiWorld } from '../support/api-world.ts';

let world: ApiWorld;
beforeAll(async () => {
  world = await openApiWorld(apiAgents);
  await world.startWorker();
});
afterAll(() => world.close());

const quick = { retry: { base_ms: 1 } };
const failing = { steps: [{ phase: 'work', tool: 'demo.flaky', input: { fail_times: 9, error_code: 'auth' } }] };

async function start(name: string, more: object = {}): Promise<string> {
  const run_id = world.newRunId(name);
  await world.runs.start({ agent: 'demo', goal: name, run_id, policy: quick, ...more });
  return run_id;
}
async function questionOf(runId: string): Promise<string> {
  const asked = async (): Promise<string> => (await world.runs.get(runId)).pending_question?.question_id ?? '';
  await expect.poll(asked, { timeout: 15_000 }).not.toBe('');
  return asked();
}
const post = <T = Record<string, unknown>>(runId: string, what: string, body: unknown, headers = {}) =>
  world.ask<T>('POST', `/v1/runs/${runId}/${what}`, { body, headers });

describe('an answer', () => {
  it('an answer is accepted once; a second one and a late one are told that they came too late', async () => {
    const runId = await start('answered', { plan: failing });
    const answer = { question_id: await questionOf(runId), decision: 'stop', by: 'ann' };
    expect(await post(runId, 'answer', answer)).toMatchObject({ status: 200, body: { accepted: true } });
    const second = await post(runId, 'answer', answer);
    expect(second).toMatchObject({ status: 200, body: { accepted: false, reason: expect.any(String) } });
    await world.runs.result(runId);
    const late = await post(runId, 'answer', answer);
    expect(late).toMatchObject({ status: 200, body: { accepted: false, state: 'ended', reason: 'the run has ended' } });
  });

  it('an invalid answer is refused with the paths of its problems, and the question stays open', async () => {
    const runId = await start('unanswered', { plan: failing });
    const question_id = await questionOf(runId);
    const wrong = [{ question_id, decision: 'maybe', by: 'ann' }, { question_id, decision: 'stop' }, [], 'stop'];
    for (const body of wrong) expect((await post(runId, 'answer', JSON.stringify(body))).status).toBe(422);
    const correct = await post(runId, 'answer', { question_id, decision: 'correct', by: 'ann' });
    expect(correct).toMatchObject({ status: 422, body: { errors: [{ path: '$.text' }] } });
    expect(await questionOf(runId)).toBe(question_id);
    await post(runId, 'answer', { question_id, decision: 'stop', by: 'ann' });
  });
});

describe('a cancel', () => {
  it('a cancel returns the final status once the work has stopped', async () => {
    const runId = await start('cancelled', { agent: 'endless', plan: endlessPlan(300) });
    await expect.poll(async () => (await world.runs.steps(runId)).length).toBe(1);
    const { status, body } = await post<RunStatus>(runId, 'cancel', { by: 'ann', reason: 'enough' });
    expect(status).toBe(200);
    expect(body).toMatchObject({ state: 'ended', outcome: 'cancelled' });
    expect(await post(runId, 'cancel', { by: 'ann' })).toMatchObject({ status: 409 });
  });

  it('a cancel returns the running attempts if the work does not stop in time', async () => {
    const runId = await start('stubborn', { agent: 'endless', plan: endlessPlan(4_000) });
    await expect.poll(async () => (await world.runs.steps(runId)).length).toBe(1);
    expect(await post(runId, 'cancel?wait_ms=30001', { by: 'ann' })).toMatchObject({ status: 422 });
    expect(await post(runId, 'cancel?wait_ms=500', { by: 'ann' })).toMatchObject({
      status: 202,
      body: { state: 'stopping', waiting_for: ['step 1: endless, attempt 1'] },
    });
    expect((await world.runs.result(runId)).outcome).toBe('cancelled');
  });
});

describe('feedback', () => {
  it('feedback to a run is classified and kept, until the limit is reached', async () => {
    const runId = await start('told', { plan: failing, policy: { ...quick, humans: { max_feedback: 1 } } });
    const question_id = await questionOf(runId);
    const said = { text: 'no, that is wrong. try again', by: 'ann' };
    expect(await post(runId, 'feedback', said)).toMatchObject({ status: 200, body: { effect: expect.any(String) } });
    expect(await post(runId, 'feedback', said)).toMatchObject({
      status: 409,
      body: { type: 'urn:secondwind:problem:limit_reached' },
    });
    await post(runId, 'answer', { question_id, decision: 'stop', by: 'ann' });
    await world.runs.result(runId);
    expect(await post(runId, 'feedback', said)).toMatchObject({ status: 409 });
  });
});

describe('an override', () => {
  it('an override allows one pass, and the audit shows by whom, why and which decision used it', async () => {
    const policy = { retry: { base_ms: 400 }, reruns: { max_reruns: 0 }, humans: { max_overrides: 1 } };
    const runId = await start('overridden', { agent: 'judged', policy, plan: slowStart() });
    const body = { override_max_reruns: true, override_by: 'ann', override_reason: 'one more' };
    expect(await post(runId, 'override', body)).toMatchObject({
      status: 200,
      body: { status: 'success', overridden_by: 'ann', override_reason: 'one more', loop_id: `loop_${runId}` },
    });
    const again = await post(runId, 'override', body);
    expect(again).toMatchObject({ status: 200, body: { status: 'already_pending' } });
    await world.runs.result(runId);
    const { body: trace } = await world.ask<{ trace: ReasonedTraceItem[] }>('GET', `/v1/runs/${runId}/trace`);
    expect(trace.trace.map((item) => [item.loop_id, item.status, item.overridden_by])).toEqual([
      [`loop_${runId}`, 'rerun', 'ann'],
      [`loop_${runId}_r1`, 'finalized', null],
    ]);
    const audit = await world.ask<{ overrides: OverrideEntry[] }>('GET', `/v1/runs/${runId}/overrides`);
    expect(audit.body.overrides).toMatchObject([
      { override_by: 'ann', override_reason: 'one more', outcome: 'spent', spent_by: `loop_${runId}` },
      { override_by: 'ann', outcome: 'already_pending' },
    ]);
    expect((await post(runId, 'override', body)).status).toBe(409);
  });

  it.each([
    [{ override_max_reruns: false, override_by: 'ann' }],
    [{ override_max_reruns: true }],
    [{ override_max_reruns: true, override_by: null }],
    [{ override_max_reruns: true, override_by: '' }],
    [{ override_max_reruns: 'yes', override_by: 'ann' }],
    [{ override_by: 'ann', overide_fatigue: true }],
  ])('the override %j is refused, and the run does not get it', async (body) => {
    const runId = await start('untouched', { plan: failing });
    const question_id = await questionOf(runId);
    expect((await post(runId, 'override', body)).status).toBe(422);
    expect((await world.ask('GET', `/v1/runs/${runId}/overrides`)).body).toEqual({ overrides: [] });
    await post(runId, 'answer', { question_id, decision: 'stop', by: 'ann' });
  });
});

describe('a rerun', () => {
  it('a rerun is a new run with the same request, started once per key', async () => {
    const plan = { steps: [{ phase: 'work', tool: 'demo.flaky', input: { fail_times: 0, output: { n: 7 } } }] };
    const runId = await start('again', { plan, labels: ['mine'], policy: { ...quick, reruns: { max_reruns: 1 } } });
    const before = await world.runs.result(runId);
    const headers = { 'idempotency-key': runId };
    const first = await post<StartedRun>(runId, 'rerun', { by: 'ann', reason: 'see it again' }, headers);
    expect(first).toMatchObject({ status: 201, body: { bound: before.bound } });
    expect(first.body.run_id).not.toBe(runId);
    expect((await post(runId, 'rerun', { by: 'ann' }, headers)).body).toEqual(first.body);
    const after = await world.runs.result(first.body.run_id);
    expect(after).toMatchObject({ agent: 'demo', outcome: 'completed', result: { output: { n: 7 } } });
    const status = await world.runs.get(first.body.run_id);
    expect(status).toMatchObject({ goal: 'again', guardrails: { max_reruns: 1 } });
  });
});

describe('a message to an unknown run', () => {
  it.each([
    ['override', { override_fatigue: true, override_by: 'ann' }],
    ['answer', { question_id: 'q', decision: 'stop', by: 'ann' }],
    ['feedback', { text: 'well', by: 'ann' }],
    ['cancel', { by: 'ann' }],
    ['rerun', { by: 'ann' }],
  ])('%s to an unknown run is 404', async (what, body) => {
    expect(await post('nobody-started-this', what, body)).toMatchObject({
      status: 404,
      body: { type: 'urn:secondwind:problem:run_not_found' },
    });
  });
});

/** A first attempt that fails and waits leaves time to override before the pass is judged. */
function slowStart() {
  return { steps: [{ phase: 'work', tool: 'demo.flaky', input: { fail_times: 2 } }] };
}
