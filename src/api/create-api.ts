import { randomUUID } from 'node:crypto';
import { Hono } from 'hono';
import { checkHost, checkOrigin } from './access/hosts.ts';
import { createTokenCheck } from './access/tokens.ts';
import type { ApiContext, ApiDeps, ApiEnv } from './context.ts';
import { Problem } from './problem.ts';
import { problemOf } from './problem-of.ts';
import type { Route } from './route.ts';
import { ROUTES } from './routes/index.ts';
import { within } from './within.ts';

const DEADLINE_MS = 15_000;
const REQUEST_ID = /^[A-Za-z0-9._-]{1,64}$/;

/** The HTTP door, without a port. Who may come in is decided before anybody looks at what was asked. */
export function createApi(deps: ApiDeps, routes: readonly Route[] = ROUTES): Hono<ApiEnv> {
  const app = new Hono<ApiEnv>();
  const checkToken = createTokenCheck(deps.tokens);
  const allowedHosts = deps.allowedHosts ?? [];

  app.use(async (c, next) => {
    const shown = c.req.header('x-request-id') ?? '';
    c.set('requestId', REQUEST_ID.test(shown) ? shown : randomUUID());
    for (const [name, value] of headersOf(c.get('requestId'))) c.header(name, value);
    checkHost(c.req.header('host') ?? new URL(c.req.url).host, allowedHosts);
    checkOrigin(c.req.header('origin'), allowedHosts);
    await next();
  });

  for (const route of routes) {
    app.on(route.method.toUpperCase(), honoPath(route.path), async (c) => {
      if (route.role !== null) c.set('grant', checkToken(c.req.header('authorization'), route.role));
      const { deadlineMs = DEADLINE_MS } = route;
      return within(deadlineMs, Promise.resolve(route.handle(c, deps)), () => noAnswer(deadlineMs));
    });
  }

  app.notFound((c) => {
    // Which addresses exist is not for everybody.
    checkToken(c.req.header('authorization'), 'viewer');
    const detail = `Nothing answers ${c.req.method} at this address. GET /openapi.json lists what does.`;
    throw new Problem('no_route', detail);
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
  if (problem.code === 'internal') {
    log?.error({ err: error, request_id: requestId, method: c.req.method, path: c.req.path }, 'a request failed');
  }
  const response = problem.toResponse();
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
