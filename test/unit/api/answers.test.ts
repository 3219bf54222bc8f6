/** The door without a port and without a house: only what it answers before or instead of asking anybody. */
import { describe, expect, it } from 'vitest';
import { createApi } from '../../../src/api/index.ts';
import type { ApiDeps } from '../../../src/api/index.ts';
import { ROUTES } from '../../../src/api/routes/index.ts';
import { openApiDocument } from '../../../src/api/openapi.ts';

const nobody = new Proxy({} as ApiDeps['runs'], {
  get: () => () => Promise.reject(new TypeError('secret inside')),
});
const parts = { temporal: () => Promise.resolve(), store: () => Promise.resolve() };
const logged: object[] = [];
const deps: ApiDeps = {
  runs: nobody,
  tokens: [{ role: 'operator', token: 'boss' }],
  checks: parts,
  log: { error: (fields) => logged.push(fields) },
};
const boss = { authorization: 'Bearer boss' };
const post = (body: string, headers: Record<string, string> = {}): RequestInit => ({
  method: 'POST',
  headers: { ...boss, ...headers },
  body,
});

describe('an error that nobody foresaw', () => {
  it('is told without its inside, and logged with the id that the caller was told', async () => {
    const answer = await createApi(deps).request('/v1/runs/some', { headers: { ...boss, 'x-request-id': 'mine-1' } });
    expect(answer.status).toBe(500);
    expect(answer.headers.get('content-type')).toBe('application/problem+json');
    expect(answer.headers.get('x-request-id')).toBe('mine-1');
    const text = await answer.text();
    expect(text).toContain('mine-1');
    expect(text).not.toMatch(/secret|TypeError|\.ts/);
    expect(logged).toEqual([expect.objectContaining({ request_id: 'mine-1', path: '/v1/runs/some' })]);
  });

  it('a request id that could be anything but an id is not repeated', async () => {
    const answer = await createApi(deps).request('/healthz', { headers: { 'x-request-id': 'a b<script>' } });
    expect(answer.headers.get('x-request-id')).toMatch(/^[0-9a-f-]{36}$/);
  });
});

describe('a body', () => {
  it.each([
    ['nothing', '', 400],
    ['half of an object', '{"agent"', 400],
    ['a value that no stack survives', `${'['.repeat(40_000)}${']'.repeat(40_000)}`, 422],
    ['more than the cap', JSON.stringify({ goal: 'x'.repeat(600_000) }), 413],
  ])('with %s is refused', async (_what, body, status) => {
    const answer = await createApi(deps).request('/v1/runs', post(body));
    expect(answer.status).toBe(status);
    expect(await answer.json()).toMatchObject({ status, type: expect.stringMatching(/^urn:secondwind:problem:/) });
  });

  it('is read no further than the cap when its length is not told', async () => {
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

  it('with an Idempotency-Key that is none is refused', async () => {
    const answer = await createApi(deps).request('/v1/runs', post('{}', { 'idempotency-key': 'x'.repeat(201) }));
    expect(answer.status).toBe(422);
  });
});

describe('readiness', () => {
  it('names the part that is missing, and nothing of why', async () => {
    const store = (): Promise<void> => Promise.reject(new Error('password for user me'));
    const answer = await createApi({ ...deps, checks: { ...parts, store } }).request('/readyz');
    expect(answer.status).toBe(503);
    const body = await answer.json();
    expect(body).toMatchObject({ parts: { temporal: 'ok', store: 'failed' } });
    expect(JSON.stringify(body)).not.toContain('password');
  });

  it('does not wait for a part that never answers', async () => {
    const temporal = (): Promise<void> => new Promise(() => {});
    const answer = await createApi({ ...deps, checks: { ...parts, temporal } }).request('/readyz');
    expect(await answer.json()).toMatchObject({ status: 503, parts: { temporal: 'no_answer', store: 'ok' } });
  });

  it('a request whose answer never comes is told so, with how to repeat it', async () => {
    const runs = { ...nobody, status: () => new Promise<never>(() => {}) };
    const hasty = ROUTES.map((route) => ({ ...route, deadlineMs: 20 }));
    const answer = await createApi({ ...deps, runs }, hasty).request('/v1/runs/some', { headers: boss });
    expect(await answer.json()).toMatchObject({ status: 503, detail: expect.stringContaining('Idempotency-Key') });
  });
});

describe('the description', () => {
  it('holds every route, with the role it needs, and refers to nothing that is not in it', () => {
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

  it('only what shows nothing of runs needs no token', () => {
    const open = ROUTES.filter((route) => route.role === null).map((route) => route.path);
    expect(open.sort()).toEqual(['/', '/healthz', '/openapi.json', '/readyz']);
  });
});
