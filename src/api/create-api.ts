import { randomUUID } from 'node:crypto';
import { Hono } from 'hono';
import { createRedactor, secretsOf } from '../core/redaction/redact.ts';
import { checkHost, checkOrigin, createRateLimit, createTokenCheck, DEFAULT_RATE_LIMIT } from './access.ts';
import type { ApiContext, ApiDeps, ApiEnv } from './context.ts';
import { Problem, problemStatus } from './problem.ts';
import { problemOf } from './problem-of.ts';
import type { Route } from './route.ts';
import { ROUTES } from './routes/all-routes.ts';
import { createMetrics } from './watch/metrics.ts';
import { within } from '../protocol/within.ts';

const DEADLINE_MS = 15_000;
const REQUEST_ID = /^[A-Za-z0-9._-]{1,64}$/;
/** All requests without a good token share one allowance. */
const NOBODY = '';

/** The HTTP door, without a port. Who may come in is decided before anybody looks at what was asked. */
export function createApi(deps: ApiDeps, routes: readonly Route[] = ROUTES): Hono<ApiEnv> {
  const app = new Hono<ApiEnv>();
  const checkToken = createTokenCheck(deps.tokens);
  const takeFromLimit = createRateLimit(deps.rateLimit ?? DEFAULT_RATE_LIMIT);
  const allowedHosts = deps.allowedHosts ?? [];
  const metrics = createMetrics();
  const secrets = [...secretsOf(process.env), ...deps.tokens.map(({ token }) => token)];
  const redact = deps.redact ?? createRedactor(secrets);

  /** Who asks; both a wrong token and a good one that asks too often are turned away here. */
  const admit = (c: ApiContext, role: NonNullable<Route['role']>): void => {
    try {
      c.set('grant', checkToken(c.req.header('authorization'), role));
    } catch (error) {
      takeFromLimit(NOBODY);
      throw error;
    }
    takeFromLimit(c.get('grant').token);
  };

  app.use(async (c, next) => {
    const shown = c.req.header('x-request-id') ?? '';
    c.set('requestId', REQUEST_ID.test(shown) ? shown : randomUUID());
    c.set('redact', redact);
    c.set('metrics', metrics);
    for (const [name, value] of headersOf(c.get('requestId'))) c.header(name, value);
    const began = performance.now();
    checkHost(c.req.header('host') ?? new URL(c.req.url).host, allowedHosts);
    checkOrigin(c.req.header('origin'), allowedHosts);
    await next();
    const route = routeOf(routes, c.req.path, c.req.method)?.path ?? 'none';
    metrics.request({ method: methodOf(c), route, status: c.res.status }, (performance.now() - began) / 1000);
  });

  for (const route of routes) {
    app.on(route.method.toUpperCase(), honoPath(route.path), async (c) => {
      if (route.role !== null) admit(c, route.role);
      const { deadlineMs = DEADLINE_MS } = route;
      return within<Response>(
        deadlineMs,
        async () => route.handle(c, deps),
        () => noAnswer(deadlineMs),
      );
    });
  }

  app.notFound((c) => {
    const others = routes.filter((route) => matches(route.path, c.req.path));
    // Which addresses exist is not for everybody.
    if (!others.some((route) => route.role === null)) admit(c, 'viewer');
    if (others.length === 0) {
      const detail = `Nothing answers ${c.req.method} at this address. GET /openapi.json lists what does.`;
      throw new Problem('no_route', detail);
    }
    const allow = others.map((route) => route.method.toUpperCase()).join(', ');
    throw new Problem('no_method', `This address takes ${allow}.`, { headers: { allow } });
  });
  app.onError((error, c) => answerOf(error, c, deps));
  return app;
}

/** Nobody said no, so what was asked for may still happen; only a key tells a repetition from a new request. */
function noAnswer(ms: number): never {
  const again =
    'Look whether it happened, or repeat it with the same Idempotency-Key; GET /readyz tells what is missing.';
  throw new Problem('not_reachable', `There was no answer within ${ms / 1000} s. ${again}`);
}

function answerOf(error: unknown, c: ApiContext, { log }: ApiDeps): Response {
  const requestId = c.get('requestId');
  const problem = problemOf(error, requestId);
  const { method, path } = c.req;
  const fields = { request_id: requestId, method, path: path.slice(0, 500), problem: problem.code };
  c.get('metrics').refused(problem.code);
  if (problem.code === 'internal') log?.error({ ...fields, err: error }, 'a request failed');
  else if (method !== 'GET' && problemStatus(problem.code) < 500) {
    // Nothing of what was sent: whoever looks for the reason finds it in the answer.
    log?.warn?.({ ...fields, role: c.get('grant')?.role ?? null }, 'a write was refused');
  }
  const response = problem.toResponse(c.get('redact'));
  for (const [name, value] of headersOf(requestId)) response.headers.set(name, value);
  return response;
}

/** On every answer, good or bad. */
const headersOf = (requestId: string): [name: string, value: string][] => [
  ['x-request-id', requestId],
  ['cache-control', 'no-store'],
  ['x-content-type-options', 'nosniff'],
];

/** `/v1/runs/{run_id}` as hono writes it. */
const honoPath = (path: string): string => path.replaceAll(/\{(\w+)\}/g, ':$1');

const patterns = new Map<string, RegExp>();
function matches(template: string, path: string): boolean {
  const known = patterns.get(template);
  const pattern = known ?? new RegExp(`^${template.replaceAll('.', '\\.').replaceAll(/\{\w+\}/g, '[^/]+')}$`);
  if (known === undefined) patterns.set(template, pattern);
  return pattern.test(path);
}
const routeOf = (routes: readonly Route[], path: string, method: string): Route | undefined =>
  routes.find((route) => route.method.toUpperCase() === method && matches(route.path, path));

/** Callers can send any word as a method; a metric has only those that mean something. */
const METHODS = new Set(['GET', 'POST', 'HEAD', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']);
const methodOf = (c: ApiContext): string => (METHODS.has(c.req.method) ? c.req.method : 'other');
