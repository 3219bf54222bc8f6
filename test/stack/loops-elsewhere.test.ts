/**
 * Loops that run elsewhere, over HTTP through a real socket: their own policy, their trace, their overrides, and what people say about the
 * guard. Needs the shared stack.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { serveApi, type ServedApi } from '../../src/api/serve.ts';
import { createClient, GuardRefusedError, type HttpClient } from '../../src/index.ts';
import { DEFAULT_POLICY } from '../../src/protocol/policy.ts';
import { judgedAgent } from '../support/api-agents.ts';
import { type ApiWorld, openApiWorld, tokenOf } from '../support/api-world.ts';
import { GOOD, LOW, newFamily, refusalOf, report } from '../support/guard-world.ts';

let world: ApiWorld;
let served: ServedApi;
let client: HttpClient;
beforeAll(async () => {
  world = await openApiWorld([judgedAgent]);
  await world.startWorker();
  served = await serveApi(world.app, { host: '127.0.0.1', port: 0 });
  client = createClient({ url: served.url, token: tokenOf('operator') });
});
afterAll(async () => {
  await served.close();
  await world.close();
});

const STRICT = { reruns: { max_reruns: 1, alignment_threshold: 0.95 } };

describe('the policy of a family', () => {
  it('is set before the first report, decides about its loops, and is fixed from then on', async () => {
    const loop = newFamily(world, 'policy');
    expect(await refusalOf(client.guards.policy(loop))).toBe('unknown_loop');
    const set = await client.guards.setPolicy(loop, { policy: STRICT, by: 'ann' });
    expect(set).toMatchObject({ set_by: 'ann', fixed: false, policy: { reruns: STRICT.reruns, mode: 'enforce' } });
    // 0.9 is good enough for the server's policy, and not for this one.
    const first = await client.guards.completeLoop(report(loop, GOOD));
    expect(first.decision_result).toMatchObject({ decision: 'rerun', max_reruns: 1 });
    const last = await client.guards.completeLoop(report(`${loop}_r1`, GOOD));
    expect(last.decision_result).toMatchObject({ decision: 'finalize', finalize_reason: 'max_reruns_reached' });
    const after = await client.guards.policy(loop);
    expect(after).toMatchObject({ set_by: 'ann', fixed: true, policy: { reruns: STRICT.reruns } });
    expect(await refusalOf(client.guards.setPolicy(loop, { policy: { mode: 'observe' }, by: 'ann' }))).toBe('ended');
  });

  it('can come with the first report, from an operator only, and no later report changes it', async () => {
    const loop = newFamily(world, 'carried');
    const body = report(loop, GOOD, { policy: STRICT });
    const asked = await world.ask('POST', '/orchestrator/loop-complete', { role: 'reporter', body });
    expect(asked).toMatchObject({ status: 403, body: { detail: expect.stringContaining('a policy') } });
    const { decision_result: result } = await client.guards.completeLoop(body);
    expect(result).toMatchObject({ decision: 'rerun', max_reruns: 1 });
    const other = report(`${loop}_r1`, GOOD, { policy: { reruns: { max_reruns: 9 } } });
    expect(await refusalOf(client.guards.completeLoop(other))).toBe('policy_fixed');
    expect(await refusalOf(client.guards.setPolicy(loop, { policy: { mode: 'observe' }, by: 'ann' }))).toBe(
      'policy_fixed',
    );
    expect(await client.guards.policy(`${loop}_r1`)).toMatchObject({ set_by: null, fixed: true });
  });

  it('is refused with the path of each problem, by the rules of every policy', async () => {
    const loop = newFamily(world, 'refused');
    const body = { policy: { reruns: { max_rerun: 1 }, budget: { max_steps: 3 } }, by: '' };
    const { status, body: problem } = await world.ask('PUT', `/orchestrator/policy/${loop}`, { body });
    expect(status).toBe(422);
    expect(problem['errors']).toEqual([
      { path: '$.policy.reruns.max_rerun', message: expect.stringContaining('max_reruns') },
      { path: '$.policy.budget', message: expect.stringContaining('has no effect on loops that run elsewhere') },
      { path: '$.by', message: expect.any(String) },
    ]);
    const reported = report(loop, GOOD, { policy: { fatigue: { decay_rate: 7 } } });
    await expect(client.guards.completeLoop(reported)).rejects.toMatchObject({
      problem: 'invalid_report',
      errors: [{ path: '$.policy.fatigue.decay_rate' }],
    });
    expect(await refusalOf(client.guards.policy(loop))).toBe('unknown_loop');
    expect((await world.ask('PUT', `/orchestrator/policy/${loop}`, { role: 'reporter', body })).status).toBe(403);
    const rerun = { policy: { mode: 'observe' as const }, by: 'ann' };
    expect(await refusalOf(client.guards.setPolicy(`${loop}_r1`, rerun))).toBe('not_a_first_loop');
  });

  it('of the server applies to a family without its own', async () => {
    const loop = newFamily(world, 'default');
    await client.guards.completeLoop(report(loop, LOW));
    const { policy, set_by } = await client.guards.policy(loop);
    expect({ reruns: policy.reruns, set_by }).toEqual({ reruns: DEFAULT_POLICY.reruns, set_by: null });
  });
});

describe('the trace of a family', () => {
  it('has every loop with its reasoning and every override, while it is open and after its end', async () => {
    const loop = newFamily(world, 'trace');
    await client.guards.completeLoop(
      report(loop, LOW, { max_reruns: 0, override_max_reruns: true, override_by: 'bob' }),
    );
    const open = await client.guards.trace(loop);
    expect(open.trace.map(({ loop_id, status }) => [loop_id, status])).toEqual([
      [loop, 'rerun'],
      [`${loop}_r1`, 'running'],
    ]);
    expect(open.trace[0]).toMatchObject({ overridden_by: 'bob', alignment_score: 0.7 });
    await client.guards.override(loop, { override_max_reruns: true, override_by: 'ann', override_reason: 'once more' });
    await client.guards.completeLoop(report(`${loop}_r1`, LOW));
    await client.guards.completeLoop(report(`${loop}_r2`, LOW));
    const { trace, overrides } = await client.guards.trace(`${loop}_r2`);
    expect(trace.map(({ status }) => status)).toEqual(['rerun', 'rerun', 'finalized']);
    expect(overrides).toMatchObject([
      { override_by: 'bob', via: 'loop_complete' },
      { override_by: 'ann', override_reason: 'once more', spent_by: `${loop}_r1` },
    ]);
    await expect(client.guards.trace(`${loop}_r7`)).rejects.toBeInstanceOf(GuardRefusedError);
    expect((await world.ask('GET', '/orchestrator/loop-trace/nobody', { role: 'viewer' })).status).toBe(404);

    // The guardrail that ended the family is a decision, which a person can call wrong.
    const decided = async () => (await client.monitors.decisions({ run_id: loop })).decisions;
    await expect
      .poll(decided, { timeout: 20_000 })
      .toMatchObject([
        { run_id: loop, agent: null, kind: 'guardrail', rule: 'max_reruns_reached', action: 'finalize' },
      ]);
    const [decision] = await decided();
    await client.monitors.judge({ run_id: loop, decision_id: decision?.decision_id ?? '' }, { wrong: true, by: 'ann' });
    const { metrics } = await client.monitors.read();
    expect(metrics.overall.find(({ agent }) => agent === null)).toMatchObject({ runs: 0, guard: { wrong: 1 } });
    expect(await (await world.fetch('/metrics')).text()).toContain('secondwind_guard_decisions_wrong{agent=""} 1\n');
  });

  it('of a run is the trace of the run', async () => {
    const run_id = world.newRunId('own');
    await client.runs.start({ agent: 'judged', goal: 'good in the end', run_id });
    await client.runs.result(run_id);
    const { trace } = await client.guards.trace(`loop_${run_id}`);
    expect(trace).toEqual(await client.runs.trace(run_id));
    expect(await refusalOf(client.guards.policy(`loop_${run_id}`))).toBe('unknown_loop');
  });
});
