import { randomUUID } from 'node:crypto';
import { Hono } from 'hono';
import { createRedactor, secretsOf } from '../core/redaction/redact.ts';
import { findRegistrySecrets } from '../define/registry-secrets.ts';
import { checkHost, checkOrigin, createRateLimit, createTokenCheck, DEFAULT_RATE_LIMIT } from './access.ts';
import type { ApiContext, ApiDeps, ApiEnv } from './api-context.ts';
import { serveDashboard } from './dashboard/serve-dashboard.ts';
import { createGuardSessions } from './guard/guard-sessions.ts';
import { Problem, problemStatus } from './problem.ts';
import { toProblem } from './error-to-problem.ts';
import type { Route } from './route.ts';
import { ROUTES } from './routes/all-routes.ts';
import { createMetrics } from './watch/request-metrics.ts';
import { createStreamLimit } from './watch/stream-limit.ts';
import { within } from '../protocol/within.ts';

const DEADLINE_MS = 15_000;
const REQUEST_ID = /^[A-Za-z0-9._-]{1,64}$/;
/** The bucket of all requests without a valid token. */
const NOBODY = '';

/** Creates the HTTP API as a hono app, without a port. Every request is authenticated before it is read. */
export function createApi(deps: ApiDeps, routes: readonly Route[] = ROUTES): Hono<ApiEnv> {
  const app = new Hono<ApiEnv>();
  const checkToken = createTokenCheck(deps.tokens);
  const takeFromLimit = createRateLimit(deps.rateLimit ?? DEFAULT_RATE_LIMIT);
  const allowedHosts = deps.allowedHosts ?? [];
  const metrics = createMetrics();
  const streams = createStreamLimit(deps.streamCaps);
  const guardSessions = createGuardSessions();
  const tokens = deps.tokens.map(({ token }) => token);
  const secrets = [...secretsOf(process.env), ...findRegistrySecrets(deps.registry), ...tokens];
  const redact = deps.redact ?? createRedactor(secrets);

  /** Authenticates the request and applies the rate limit. */
  const admit = (c: ApiContext, role: NonNullable<Route['role']>, take = takeFromLimit): void => {
    try {
      c.set('grant', checkToken(c.req.header('authorization'), role));
    } catch (error) {
      takeFromLimit(NOBODY);
      throw error;
    }
    take(c.get('grant').token);
  };

  app.use(async (c, next) => {
    const shown = c.req.header('x-request-id') ?? '';
    c.set('requestId', REQUEST_ID.test(shown) ? shown : randomUUID());
    c.set('redact', redact);
    c.set('metrics', metrics);
    c.set('streams', streams);
    c.set('guardSessions', guardSessions);
    for (const [name, value] of answerHeaders(c.get('requestId'))) c.header(name, value);
    const began = performance.now();
    checkHost(c.req.header('host') ?? new URL(c.req.url).host, allowedHosts);
    const origin = c.req.header('origin');
    if (isCodecPage(c, deps)) {
      for (const [name, value] of corsHeaders(origin ?? '')) c.header(name, value);
      // A browser asks first whether it may ask, without a token.
      if (c.req.method === 'OPTIONS') return c.body(null, 204);
    } else checkOrigin(origin, allowedHosts);
    await next();
    const route = findRoute(routes, c.req.path, c.req.method)?.path ?? 'none';
    metrics.request({ method: methodLabel(c), route, status: c.res.status }, (performance.now() - began) / 1000);
  });

  for (const route of routes) {
    const take = route.rateLimit === undefined ? takeFromLimit : createRateLimit(route.rateLimit);
    app.on(route.method.toUpperCase(), honoPath(route.path), async (c) => {
      if (route.role !== null) admit(c, route.role, take);
      const { deadlineMs = DEADLINE_MS } = route;
      return within<Response>(
        deadlineMs,
        async () => route.handle(c, deps),
        () => noAnswer(deadlineMs),
      );
    });
  }

  if (deps.dashboard !== undefined) serveDashboard(app, deps.dashboard);

  app.notFound((c) => {
    const others = routes.filter((route) => matches(route.path, c.req.path));
    // Only callers with a token may learn which paths exist.
    if (!others.some((route) => route.role === null)) admit(c, 'viewer');
    if (others.length === 0) {
      const detail = `There is no route ${c.req.method} at this path. GET /openapi.json lists all routes.`;
      throw new Problem('no_route', detail);
    }
    const allow = others.map((route) => route.method.toUpperCase()).join(', ');
    throw new Problem('no_method', `This path allows ${allow}.`, { headers: { allow } });
  });
  app.onError((error, c) => toErrorResponse(error, c, deps));
  return app;
}

/** The request may still take effect. Only an idempotency key tells a repetition from a new request. */
function noAnswer(ms: number): never {
  const again =
    'Check whether it took effect, or repeat it with the same Idempotency-Key. GET /readyz shows what is not ready.';
  throw new Problem('not_reachable', `There was no answer within ${ms / 1000} s. ${again}`);
}

function toErrorResponse(error: unknown, c: ApiContext, deps: ApiDeps): Response {
  const { log } = deps;
  const requestId = c.get('requestId');
  const problem = toProblem(error, requestId);
  const { method, path } = c.req;
  const fields = { request_id: requestId, method, path: path.slice(0, 500), problem: problem.code };
  c.get('metrics').refused(problem.code);
  if (problem.code === 'internal') log?.error({ ...fields, err: error }, 'a request failed');
  else if (method !== 'GET' && problemStatus(problem.code) < 500) {
    // The log does not contain the body; the answer names the reason.
    log?.warn?.({ ...fields, role: c.get('grant')?.role ?? null }, 'a write was refused');
  }
  const response = problem.toResponse(c.get('redact'));
  for (const [name, value] of answerHeaders(requestId)) response.headers.set(name, value);
  if (isCodecPage(c, deps)) {
    for (const [name, value] of corsHeaders(c.req.header('origin') ?? '')) response.headers.set(name, value);
  }
  return response;
}

/** A page that the settings allow to ask for the codec, such as Temporal's UI, and that asks for nothing else. */
const isCodecPage = (c: ApiContext, { codec }: ApiDeps): boolean =>
  c.req.path.startsWith('/codec/') && (codec?.origins ?? []).includes(c.req.header('origin')?.toLowerCase() ?? '');

const corsHeaders = (origin: string): [name: string, value: string][] => [
  ['access-control-allow-origin', origin],
  ['access-control-allow-methods', 'POST'],
  ['access-control-allow-headers', 'authorization, content-type, x-namespace'],
  ['access-control-max-age', '600'],
  ['vary', 'origin'],
];

/** The headers of every answer, also of errors. */
const answerHeaders = (requestId: string): [name: string, value: string][] => [
  ['x-request-id', requestId],
  ['cache-control', 'no-store'],
  ['x-content-type-options', 'nosniff'],
];

/** Converts `/v1/runs/{run_id}` to the syntax of hono. */
const honoPath = (path: string): string => path.replaceAll(/\{(\w+)\}/g, ':$1');

const patterns = new Map<string, RegExp>();
function matches(template: string, path: string): boolean {
  const known = patterns.get(template);
  const pattern = known ?? new RegExp(`^${template.replaceAll('.', '\\.').replaceAll(/\{\w+\}/g, '[^/]+')}$`);
  if (known === undefined) patterns.set(template, pattern);
  return pattern.test(path);
}
const findRoute = (routes: readonly Route[], path: string, method: string): Route | undefined =>
  routes.find((route) => route.method.toUpperCase() === method && matches(route.path, path));

/** Callers can send any text as a method; the label of a metric must have a fixed set of values. */
const METHODS = new Set(['GET', 'POST', 'HEAD', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']);
const methodLabel = (c: ApiContext): string => (METHODS.has(c.req.method) ? c.req.method : 'other');
