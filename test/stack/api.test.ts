/** The HTTP door over a real Temporal, a real store and a real worker. Says nothing about ports: see cli-dev.test.ts. */
import { NativeConnection } from '@temporalio/worker';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { createApi } from '../../src/api/index.ts';
import { ROUTES } from '../../src/api/routes/index.ts';
import { connectClient, createRunsClient } from '../../src/client/index.ts';
import { type Role, ROLES } from '../../src/config/roles.ts';
import { createRegistry } from '../../src/define/registry.ts';
import { demoAgent } from '../../src/demo/demo-agent.ts';
import type { RunStatus } from '../../src/protocol/run.ts';
import { createStore } from '../../src/store/store.ts';
import { createWorker } from '../../src/worker/create-worker.ts';
import { createTestDatabase, idPrefix, uniqueTaskQueue, workflowBundlePath } from '../support/stack.ts';

const tokens = ROLES.map((role) => ({ role, token: `${role}-token` }));
const as = (role: Role): Record<string, string> => ({ authorization: `Bearer ${role}-token` });
let app: ReturnType<typeof createApi>;
const ending: (() => Promise<unknown>)[] = [];

beforeAll(async () => {
  const [address, namespace, taskQueue] = [inject('temporalAddress'), inject('namespace'), uniqueTaskQueue()];
  const store = createStore((await createTestDatabase()).databaseUrl);
  const client = await connectClient({ address, namespace });
  const connection = await NativeConnection.connect({ address });
  const registry = createRegistry([demoAgent]);
  const shared = { namespace, registry, store, taskQueue };
  const worker = await createWorker({ ...shared, connection, workflowBundlePath: workflowBundlePath() });
  const running = worker.run();
  const runs = createRunsClient({ client, registry, store, taskQueue });
  const temporal = (): Promise<unknown> => client.workflowService.describeNamespace({ namespace });
  app = createApi({ runs, tokens, checks: { temporal, store: () => store.ping() } });
  ending.push(
    () => (worker.shutdown(), running),
    () => connection.close(),
    () => client.connection.close(),
    () => store.close(),
  );
});

afterAll(async () => {
  for (const end of ending) await end();
});

const start = (body: object, headers: Record<string, string> = {}): Promise<Response> =>
  Promise.resolve(
    app.request('/v1/runs', {
      method: 'POST',
      headers: { ...as('reporter'), ...headers },
      body: JSON.stringify(body),
    }),
  );

async function untilEnded(path: string): Promise<RunStatus> {
  for (;;) {
    const status = (await (await app.request(path, { headers: as('viewer') })).json()) as RunStatus;
    if (status.state === 'ended') return status;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

describe('a run', () => {
  it('is started with its bound and a place to look, and comes to its end', async () => {
    const answer = await start({ agent: 'demo', goal: 'try it', policy: { retry: { base_ms: 1 } } });
    expect(answer.status).toBe(201);
    const started = (await answer.json()) as { run_id: string; workflow_id: string; bound: object };
    expect(started).toMatchObject({
      workflow_id: `agent-run/${started.run_id}`,
      bound: { attempts: expect.any(Number) },
    });
    expect(answer.headers.get('location')).toBe(`/v1/runs/${started.run_id}`);
    const status = await untilEnded(`/v1/runs/${started.run_id}`);
    expect(status).toMatchObject({ outcome: 'completed', budget: { used: { attempts: 2 } }, bound: started.bound });
  });

  it('keeps its id for itself', async () => {
    const request = { agent: 'demo', goal: 'mine', run_id: `${idPrefix}-taken` };
    expect((await start(request)).status).toBe(201);
    const second = await start(request);
    expect(second.status).toBe(409);
    expect(await second.json()).toMatchObject({ type: 'urn:secondwind:problem:run_exists', status: 409 });
  });

  it('is started once for one key and token, and a key is not used for another request', async () => {
    const key = { 'idempotency-key': `${idPrefix}-1` };
    const request = { agent: 'demo', goal: 'once' };
    const answers = [await start(request, key), await start(request, key)];
    expect(answers.map((answer) => answer.status)).toEqual([201, 201]);
    const [one, two] = await Promise.all(answers.map((answer) => answer.json() as Promise<{ run_id: string }>));
    expect(two).toEqual(one);
    const other = (await (await start(request, { ...key, ...as('operator') })).json()) as { run_id: string };
    expect(other.run_id).not.toBe(one?.run_id);
    expect((await start({ ...request, goal: 'twice' }, key)).status).toBe(409);
  });

  it('is not started from a request with a mistake, and each mistake is named by its path', async () => {
    const answer = await start({ agent: 'demo', gaol: 'x', goal: 'x', policy: { retry: { netwrok: 1 } } });
    expect(answer.status).toBe(422);
    expect(answer.headers.get('content-type')).toBe('application/problem+json');
    const { errors, detail } = (await answer.json()) as { errors: object[]; detail: string };
    expect(errors).toContainEqual({ path: '$.gaol', message: 'unknown key; did you mean goal?' });
    expect(errors).toContainEqual({ path: '$.policy.retry.netwrok', message: 'unknown key; did you mean network?' });
    expect(detail).toMatch(/Correct/);
  });

  it.each(['unknown-run', '%2Fetc', 'a%00b', 'ü', 'a'.repeat(200)])('that nobody started is 404: %s', async (id) => {
    const answer = await app.request(`/v1/runs/${id}`, { headers: as('viewer') });
    expect(answer.status).toBe(404);
    expect(await answer.json()).toMatchObject({ type: 'urn:secondwind:problem:run_not_found' });
  });
});

describe('the parts', () => {
  it('are ready', async () => {
    const answer = await app.request('/readyz');
    expect(await answer.json()).toEqual({ status: 'ready', parts: { temporal: 'ok', store: 'ok' } });
  });
});

describe.each(ROUTES.map((route) => [route.method, route.path, route] as const))('%s %s', (method, path, route) => {
  const ask = (headers: Record<string, string>, host = 'localhost'): Promise<Response> => {
    const url = `http://${host}${path.replace('{run_id}', 'unknown-run')}`;
    const body = method === 'post' ? { body: '{}' } : {};
    return Promise.resolve(app.request(url, { method: method.toUpperCase(), headers, ...body }));
  };
  const enough = route.role === null ? {} : as(route.role);

  it('is turned away from a foreign host and from a foreign page, before its token is looked at', async () => {
    expect((await ask(enough, 'evil.example')).status).toBe(403);
    expect((await ask({ ...enough, host: 'evil.example' })).status).toBe(403);
    expect((await ask({ ...enough, origin: 'https://evil.example' })).status).toBe(403);
    expect((await ask({ ...enough, origin: 'null' })).status).toBe(403);
    expect((await ask({ host: 'evil.example' })).status).toBe(403);
  });

  it('needs a token, unless it is open to everybody', async () => {
    const isRefused = route.role !== null;
    for (const shown of ['', 'Bearer wrong', 'Basic b3BlcmF0b3I6eA==']) {
      const answer = await ask(shown === '' ? {} : { authorization: shown });
      expect(answer.status === 401).toBe(isRefused);
      expect(answer.headers.get('www-authenticate')?.startsWith('Bearer') === true).toBe(isRefused);
      expect(answer.headers.get('content-type') === 'application/problem+json').toBe(isRefused);
    }
  });

  it('is open to its role and to stronger ones, and to no weaker one', async () => {
    for (const role of ROLES) {
      const may = route.role === null || ROLES.indexOf(role) >= ROLES.indexOf(route.role);
      const { status } = await ask(as(role));
      expect(may ? [200, 201, 404, 422] : [403]).toContain(status);
    }
  });
});

describe('an address where nothing is', () => {
  it.each(['/v1', '/v1/nothing', '/v1/runs/a/b/c', '/admin'])(
    '%s shows it only to those with a token',
    async (path) => {
      expect((await app.request(path)).status).toBe(401);
      const answer = await app.request(path, { headers: as('viewer') });
      expect(answer.status).toBe(404);
      expect(answer.headers.get('content-type')).toBe('application/problem+json');
    },
  );
});
