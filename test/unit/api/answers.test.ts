/** The door without a port and without a house: only what it answers before or instead of asking anybody. */
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { createApi } from '../../../src/api/create-api.ts';
import type { ApiDeps } from '../../../src/api/api-context.ts';
import { ROUTES } from '../../../src/api/routes/all-routes.ts';
import { openApiDocument } from '../../../src/api/openapi.ts';
import { EXAMPLES } from '../../../src/api/schemas/examples.ts';
import { SCHEMAS } from '../../../src/api/schemas/all-schemas.ts';
import { createRegistry } from '../../../src/define/registry.ts';
import { demoAgent } from '../../../src/cli/demo/demo-agent.ts';

/** Whatever is asked of it fails in a way that nobody foresaw. */
const broken = (): never =>
  new Proxy(() => {}, { get: broken, apply: () => Promise.reject(new TypeError('secret inside')) }) as never;
const nobody: ApiDeps['runs'] = broken();
const parts = { temporal: () => Promise.resolve(), store: () => Promise.resolve() };
const logged: object[] = [];
const warned: object[] = [];
const deps: ApiDeps = {
  runs: nobody,
  guards: broken(),
  inspector: broken(),
  store: broken(),
  registry: createRegistry([demoAgent]),
  tokens: [{ role: 'operator', token: 'boss' }],
  checks: parts,
  log: { error: (fields) => logged.push(fields), warn: (fields) => warned.push(fields) },
};
const boss = { authorization: 'Bearer boss' };
const post = (body: string, headers: Record<string, string> = {}): RequestInit => ({
  method: 'POST',
  headers: { ...boss, ...headers },
  body,
});

describe('an unexpected error', () => {
  it('an unexpected error is reported without details, and logged with the request id of the answer', async () => {
    const answer = await createApi(deps).request('/v1/runs/some', { headers: { ...boss, 'x-request-id': 'mine-1' } });
    expect(answer.status).toBe(500);
    expect(answer.headers.get('content-type')).toBe('application/problem+json');
    expect(answer.headers.get('x-request-id')).toBe('mine-1');
    const text = await answer.text();
    expect(text).toContain('mine-1');
    expect(text).not.toMatch(/secret|TypeError|\.ts/);
    expect(logged).toEqual([expect.objectContaining({ request_id: 'mine-1', path: '/v1/runs/some' })]);
  });

  it('an invalid request id is not repeated in the answer', async () => {
    const answer = await createApi(deps).request('/healthz', { headers: { 'x-request-id': 'a b<script>' } });
    expect(answer.headers.get('x-request-id')).toMatch(/^[0-9a-f-]{36}$/);
  });
});

describe('a body', () => {
  it.each([
    ['nothing', '', 400],
    ['half of an object', '{"agent"', 400],
    ['a value that no stack survives', `${'['.repeat(40_000)}${']'.repeat(40_000)}`, 422],
    ['a key twice', '{"agent":"demo","goal":"a","g\\u006fal":"b"}', 422],
    ['a key twice, deep inside', '{"input":[{"a":1,"b":{},"a":2}]}', 422],
    ['a key that changes what objects are', '{"input":{"__proto__":{"x":1}}}', 422],
    ['the fields of a form', 'agent=demo&goal=x', 400],
    ['two values', '{} {}', 400],
    ['more than the cap', JSON.stringify({ goal: 'x'.repeat(600_000) }), 413],
  ])('a body with %s is refused', async (_what, body, status) => {
    const answer = await createApi(deps).request('/v1/runs', post(body));
    expect(answer.status).toBe(status);
    expect(await answer.json()).toMatchObject({ status, type: expect.stringMatching(/^urn:secondwind:problem:/) });
  });

  it.each([
    ['an overlong slash', [0xc0, 0xaf]],
    ['an overlong letter', [0xe0, 0x81, 0x81]],
    ['half a character', [0xc3]],
    ['a surrogate', [0xed, 0xa0, 0x80]],
  ])('a body with %s is refused', async (_what, bytes) => {
    const body = Buffer.concat([Buffer.from('{"goal":"'), Buffer.from(bytes), Buffer.from('"}')]);
    const answer = await createApi(deps).request('/v1/runs', { ...post(''), body });
    expect(answer.status).toBe(400);
  });

  it('a body may have equal keys in two objects, and quotes and braces in its texts', async () => {
    const body = '{"agent":"demo","goal":"{\\"goal\\": 1}","input":[{"a":"]"},{"a":"\\\\"}],"extra":1}';
    const answer = await createApi(deps).request('/v1/runs', post(body));
    // Refused by the run's own door, behind this one.
    expect(answer.status).toBe(500);
  });

  it('a body without a declared length is read only up to the cap', async () => {
    let sent = 0;
    const body = new ReadableStream({
      pull: (controller) => {
        sent += 64 * 1024;
        controller.enqueue(new Uint8Array(64 * 1024).fill(32));
      },
    });
    const request = { ...post(''), body, duplex: 'half' } as RequestInit;
    expect((await createApi(deps).request('/v1/runs', request)).status).toBe(413);
    expect(sent).toBeLessThan(1024 * 1024);
  });

  it('an incomplete body is waited for, but not forever', async () => {
    vi.useFakeTimers();
    onTestFinished(() => void vi.useRealTimers());
    const body = new ReadableStream({ start: (controller) => controller.enqueue(Buffer.from('{"agent"')) });
    const request = { ...post(''), body, duplex: 'half' } as RequestInit;
    const answer = Promise.resolve(createApi(deps).request('/v1/runs', request));
    await vi.advanceTimersByTimeAsync(10_000);
    expect((await answer).status).toBe(408);
    expect((await answer).headers.get('connection')).toBe('close');
  });

  it('a request with an invalid Idempotency-Key is refused', async () => {
    const answer = await createApi(deps).request('/v1/runs', post('{}', { 'idempotency-key': 'x'.repeat(201) }));
    expect(answer.status).toBe(422);
  });
});

describe('readiness', () => {
  it('readiness names the service that is missing, without the reason', async () => {
    const store = (): Promise<void> => Promise.reject(new Error('password for user me'));
    const answer = await createApi({ ...deps, checks: { ...parts, store } }).request('/readyz');
    expect(answer.status).toBe(503);
    const body = await answer.json();
    expect(body).toMatchObject({ parts: { temporal: 'ok', store: 'failed' } });
    expect(JSON.stringify(body)).not.toContain('password');
  });

  it('readiness does not wait for a service that never answers', async () => {
    const temporal = (): Promise<void> => new Promise(() => {});
    const answer = await createApi({ ...deps, checks: { ...parts, temporal } }).request('/readyz');
    expect(await answer.json()).toMatchObject({ status: 503, parts: { temporal: 'no_answer', store: 'ok' } });
  });

  it('a request without an answer gets a problem that says how to repeat it', async () => {
    const runs = { get: () => new Promise<never>(() => {}) } as unknown as ApiDeps['runs'];
    const hasty = ROUTES.map((route) => ({ ...route, deadlineMs: 20 }));
    const answer = await createApi({ ...deps, runs }, hasty).request('/v1/runs/some', { headers: boss });
    expect(await answer.json()).toMatchObject({ status: 503, detail: expect.stringContaining('Idempotency-Key') });
  });
});

describe('the description', () => {
  it('the description has every route with its role, and all its references resolve', () => {
    const document = openApiDocument(ROUTES, '1.2.3');
    const text = JSON.stringify(document);
    for (const route of ROUTES) {
      const operation = (document['paths'] as Record<string, Record<string, object>>)[route.path]?.[route.method];
      expect(operation).toBeDefined();
      expect('security' in (operation ?? {})).toBe(route.role !== null);
    }
    const schemas = (document['components'] as { schemas: object }).schemas;
    for (const [, name] of text.matchAll(/"\$ref":"#\/components\/schemas\/(\w+)"/g))
      expect(schemas).toHaveProperty([name ?? '']);
    expect(text).not.toContain('$defs');
  });

  it('the description has a valid example of every request body', () => {
    const bodies = ROUTES.flatMap(({ body }) => (body === undefined ? [] : [body]));
    expect(Object.keys(EXAMPLES).sort()).toEqual([...new Set(bodies)].sort());
    for (const name of bodies) expect(SCHEMAS[name].safeParse(EXAMPLES[name]).error).toBeUndefined();
  });

  it('only routes that show nothing of runs need no token', () => {
    const open = ROUTES.filter((route) => route.role === null).map((route) => route.path);
    expect(open.sort()).toEqual(['/', '/docs', '/healthz', '/openapi.json', '/readyz']);
  });
});

describe('a refused write', () => {
  it('a refused write is logged with its role and its reason, and without the body', async () => {
    warned.length = 0;
    await createApi(deps).request('/v1/runs', post('{"secret":"hunter2', { 'x-request-id': 'mine-2' }));
    const fields = { request_id: 'mine-2', method: 'POST', path: '/v1/runs', problem: 'not_json', role: 'operator' };
    expect(warned).toEqual([fields]);
    expect(JSON.stringify(warned)).not.toContain('hunter2');
  });
});

describe('a token that asks too often', () => {
  it('a token over its rate limit gets a Retry-After, and other tokens are not affected', async () => {
    const tokens = [...deps.tokens, { role: 'viewer' as const, token: 'eyes' }];
    const app = createApi({ ...deps, tokens, rateLimit: { burst: 3, perSecond: 0.5 } });
    const ask = async (token: string): Promise<Response> =>
      app.request('/v1/policy', { headers: { authorization: `Bearer ${token}` } });
    const statuses = [];
    for (let turn = 0; turn < 4; turn += 1) statuses.push((await ask('boss')).status);
    expect(statuses).toEqual([200, 200, 200, 429]);
    expect((await ask('boss')).headers.get('retry-after')).toBe('2');
    expect((await ask('eyes')).status).toBe(200);
    for (let turn = 0; turn < 3; turn += 1) expect((await ask('guess')).status).toBe(401);
    expect((await ask('guess')).status).toBe(429);
    expect((await ask('eyes')).status).toBe(200);
    expect((await app.request('/healthz')).status).toBe(200);
  });
});

describe('the page of the description', () => {
  it('the HTML description names every route and loads nothing', async () => {
    const answer = await createApi(deps).request('/docs');
    const html = await answer.text();
    for (const route of ROUTES) expect(html).toContain(`<b>${route.method.toUpperCase()}</b> ${route.path}`);
    expect(html).not.toMatch(/<script|<link|<img|<iframe|https?:\/\//);
    expect(answer.headers.get('content-security-policy')).toContain("default-src 'none'");
  });
});

describe('the figures', () => {
  it('the metrics count requests by route and status, and work without Temporal', async () => {
    const app = createApi(deps);
    await app.request('/healthz');
    await app.request('/v1/runs', post('{'));
    await app.request('/v1/policy', { headers: boss });
    const answer = await app.request('/metrics', { headers: boss });
    const text = await answer.text();
    expect(answer.headers.get('content-type')).toBe('text/plain; version=0.0.4; charset=utf-8');
    expect(text).toContain('_count{method="GET",route="/healthz",status="200"} 1');
    expect(text).toContain('_count{method="POST",route="/v1/runs",status="400"} 1');
    expect(text).toContain('secondwind_http_refused_total{problem="not_json"} 1');
    expect(text).toMatch(/^process_resident_memory_bytes \d+$/m);
    for (const line of text.trimEnd().split('\n'))
      expect(line).toMatch(/^(?:# (?:HELP|TYPE) \w+ .+|\w+(?:\{[^{}]*\})? [\d.e+-]+)$/);
    expect((await app.request('/metrics')).status).toBe(401);
  });
});
