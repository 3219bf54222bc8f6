/** Starting runs over HTTP, and what answers at no address. Says nothing about ports: see cli-dev.test.ts. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { StartedRun } from '../../src/client/views.ts';
import { apiAgents } from '../support/api-agents.ts';
import { type ApiWorld, type AskOptions, openApiWorld } from '../support/api-world.ts';
import { idPrefix } from '../support/stack.ts';

let world: ApiWorld;
beforeAll(async () => {
  world = await openApiWorld(apiAgents);
  await world.startWorker();
});
afterAll(() => world.close());

const start = <T = StartedRun>(body: unknown, options: AskOptions = {}) =>
  world.ask<T>('POST', '/v1/runs', { role: 'reporter', body, ...options });

describe('a run', () => {
  it('a run is started with its limit and a Location header, and ends', async () => {
    const { status, body, headers } = await start({ agent: 'demo', goal: 'try it', policy: { retry: { base_ms: 1 } } });
    expect(status).toBe(201);
    expect(body.workflow_id).toBe(`agent-run/${body.run_id}`);
    expect(headers.get('location')).toBe(`/v1/runs/${body.run_id}`);
    await world.runs.result(body.run_id);
    const ended = await world.ask('GET', `/v1/runs/${body.run_id}`, { role: 'viewer' });
    expect(ended.body).toMatchObject({ outcome: 'completed', budget: { used: { attempts: 2 } }, bound: body.bound });
  });

  it('the id of a run cannot be used again', async () => {
    const request = { agent: 'demo', goal: 'mine', run_id: `${idPrefix}-taken` };
    expect((await start(request)).status).toBe(201);
    expect(await start(request)).toMatchObject({ status: 409, body: { type: 'urn:secondwind:problem:run_exists' } });
  });

  it('the loop id of a run cannot be used again', async () => {
    const request = { agent: 'demo', goal: 'mine', loop_id: `${idPrefix}-family` };
    expect((await start(request)).status).toBe(201);
    expect(await start(request)).toMatchObject({ status: 409, body: { type: 'urn:secondwind:problem:family_taken' } });
    const first = await start({ agent: 'demo', goal: 'x', run_id: `${idPrefix}-first` });
    const second = await start({ agent: 'demo', goal: 'x', loop_id: `loop_${first.body.run_id}` });
    expect(second.body).toMatchObject({ type: 'urn:secondwind:problem:family_taken' });
  });

  it('a run that is refused for its id does not reserve its loop id', async () => {
    const taken = { agent: 'demo', goal: 'x', run_id: `${idPrefix}-taken-2` };
    await start(taken);
    const loop_id = `${idPrefix}-free`;
    expect((await start({ ...taken, loop_id })).body).toMatchObject({ type: 'urn:secondwind:problem:run_exists' });
    expect((await start({ agent: 'demo', goal: 'x', loop_id })).status).toBe(201);
  });

  it('a run is started once per key and token, and its key is refused for another request', async () => {
    const headers = { 'idempotency-key': `${idPrefix}-1` };
    const request = { agent: 'demo', goal: 'once' };
    const [one, two] = [await start(request, { headers }), await start(request, { headers })];
    expect([one.status, two.status]).toEqual([201, 201]);
    expect(two.body).toEqual(one.body);
    const other = await start(request, { headers, role: 'operator' });
    expect(other.body.run_id).not.toBe(one.body.run_id);
    expect(await start({ ...request, goal: 'twice' }, { headers })).toMatchObject({
      status: 422,
      body: { type: 'urn:secondwind:problem:idempotency_conflict' },
    });
  });

  it('a run with a given id is started once per key too; without the key, or with another, its id is taken', async () => {
    const headers = { 'idempotency-key': `${idPrefix}-own` };
    const request = { agent: 'demo', goal: 'once', run_id: `${idPrefix}-own` };
    const first = await start(request, { headers });
    expect(first).toMatchObject({ status: 201, body: { run_id: request.run_id } });
    const again = await start(request, { headers });
    expect([again.status, again.body, again.headers.get('location')]).toEqual([
      201,
      first.body,
      `/v1/runs/${request.run_id}`,
    ]);
    const exists = { status: 409, body: { type: 'urn:secondwind:problem:run_exists' } };
    expect(await start(request)).toMatchObject(exists);
    const another = { 'idempotency-key': `${idPrefix}-another` };
    expect(await start(request, { headers: another })).toMatchObject(exists);
    // What started nothing has not used the key up.
    const free = { ...request, run_id: `${idPrefix}-free-id` };
    expect((await start(free, { headers: another })).status).toBe(201);
    const conflict = { status: 422, body: { type: 'urn:secondwind:problem:idempotency_conflict' } };
    const { run_id: _own, ...unnamed } = request;
    for (const body of [{ ...request, goal: 'twice' }, { ...request, run_id: `${idPrefix}-own-2` }, unnamed]) {
      expect(await start(body, { headers })).toMatchObject(conflict);
    }
    expect((await world.ask('GET', `/v1/runs/${idPrefix}-own-2`)).status).toBe(404);
    const race = { 'idempotency-key': `${idPrefix}-own-race` };
    const both = ['a', 'a'].map((name) => start({ ...request, run_id: `${idPrefix}-race-${name}` }, { headers: race }));
    expect((await Promise.all(both)).map(({ status }) => String(status)).sort()).toEqual(['201', '409']);
  });

  it('a repeated request is refused while the first is in progress, and the run is started once', async () => {
    const headers = { 'idempotency-key': `${idPrefix}-2` };
    const answers = await Promise.all([1, 2, 3].map(() => start({ agent: 'demo', goal: 'race' }, { headers })));
    expect(answers.map((answer) => String(answer.status)).sort()).toEqual(['201', '409', '409']);
    expect(answers.find((answer) => answer.status === 409)?.headers.get('retry-after')).toBe('1');
  });

  it('an invalid request starts no run, and every problem is reported with its path', async () => {
    const wrong = { agent: 'demo', gaol: 'x', goal: 'x', policy: { retry: { netwrok: 1 } } };
    const { status, body } = await start<{ errors: object[]; detail: string }>(wrong);
    expect(status).toBe(422);
    expect(body.errors).toContainEqual({ path: '$.gaol', message: 'unknown key; did you mean goal?' });
    expect(body.errors).toContainEqual({
      path: '$.policy.retry.netwrok',
      message: 'unknown key; did you mean network?',
    });
    expect(body.detail).toMatch(/Correct/);
  });

  it.each(['unknown-run', '%2Fetc', 'a%00b', 'ü', 'a'.repeat(200)])('an unknown run is 404: %s', async (id) => {
    const { status, body } = await world.ask('GET', `/v1/runs/${id}`);
    expect([status, body['type']]).toEqual([404, 'urn:secondwind:problem:run_not_found']);
  });
});

describe('the parts', () => {
  it('the API is ready when Temporal and the store answer', async () => {
    const { body } = await world.ask('GET', '/readyz', { role: null });
    expect(body).toEqual({ status: 'ready', parts: { temporal: 'ok', store: 'ok' } });
  });
});

describe('an address where nothing is', () => {
  it.each(['/v1', '/v1/nothing', '/v1/runs/a/b/c', '/admin'])(
    'an unknown path %s is reported only to callers with a token',
    async (path) => {
      expect((await world.fetch(path, { role: null })).status).toBe(401);
      const answer = await world.fetch(path, { role: 'viewer' });
      expect([answer.status, answer.headers.get('content-type')]).toEqual([404, 'application/problem+json']);
    },
  );

  it('a known path with a wrong method lists the allowed methods', async () => {
    const request = { method: 'DELETE', headers: { authorization: 'Bearer operator-token-of-the-tests' } };
    const answer = await world.app.request('/v1/runs', request);
    expect([answer.status, answer.headers.get('allow')]).toEqual([405, 'POST, GET']);
    expect((await world.app.request('/v1/runs', { method: 'DELETE' })).status).toBe(401);
  });
});
