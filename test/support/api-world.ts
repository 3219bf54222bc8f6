/** The HTTP API over a run world. Every answer is checked against its schema in the OpenAPI document. */
import { expect } from 'vitest';
import { createApi } from '../../src/api/create-api.ts';
import type { ApiDeps } from '../../src/api/api-context.ts';
import { openApiDocument } from '../../src/api/openapi.ts';
import type { Answer, Route } from '../../src/api/route.ts';
import { ROUTES } from '../../src/api/routes/all-routes.ts';
import { SCHEMAS } from '../../src/api/schemas/all-schemas.ts';
import { type Role, ROLES } from '../../src/api/access.ts';
import type { Agent } from '../../src/define/define-agent.ts';
import { openRunWorld, type RunWorld } from './run-world.ts';

export const tokenOf = (role: Role): string => `${role}-token-of-the-tests`;
const as = (role: Role): Record<string, string> => ({ authorization: `Bearer ${tokenOf(role)}` });

export interface AskOptions {
  /** null sends no token. Default: operator. */
  role?: Role | null;
  /** A text is sent as it is, anything else as JSON. */
  body?: unknown;
  headers?: Record<string, string>;
  signal?: AbortSignal;
}
export interface Asked<T> {
  status: number;
  body: T;
  headers: Headers;
}
export type Ask = <T = Record<string, unknown>>(
  method: 'GET' | 'POST' | 'PUT',
  path: string,
  options?: AskOptions,
) => Promise<Asked<T>>;

export interface ApiWorld extends RunWorld {
  app: ReturnType<typeof createApi>;
  ask: Ask;
  /** The raw response, for streams and bytes. */
  fetch(path: string, options?: AskOptions): Promise<Response>;
  warnings: object[];
}

export async function openApiWorld(
  agents: Agent[],
  more: Partial<ApiDeps> = {},
  ownDatabaseUrl?: string,
): Promise<ApiWorld> {
  const world = await openRunWorld(agents, ownDatabaseUrl);
  const { client, store, registry, runs, guards, inspector } = world;
  const { namespace } = client.options;
  const warnings: object[] = [];
  const app = createApi({
    runs,
    guards,
    inspector,
    store,
    registry,
    tokens: ROLES.map((role) => ({ role, token: tokenOf(role) })),
    checks: {
      temporal: () => client.workflowService.describeNamespace({ namespace }),
      store: () => store.ping(),
    },
    log: { error: (fields) => warnings.push(fields), warn: (fields) => warnings.push(fields) },
    ...more,
  });
  const fetching = (path: string, options: AskOptions = {}, method = 'GET'): Promise<Response> =>
    Promise.resolve(app.request(path, requestOf(method, options)));
  return {
    ...world,
    app,
    warnings,
    fetch: (path, options) => fetching(path, options),
    ask: (async (method, path, options = {}) => {
      const response = await fetching(path, options, method);
      const body: unknown = await response.json();
      expectAsDescribed(method, path, response, body);
      return { status: response.status, body, headers: response.headers };
    }) as Ask,
  };
}

function requestOf(method: string, { role = 'operator', body, headers = {}, signal }: AskOptions): RequestInit {
  const text = body === undefined || typeof body === 'string' ? body : JSON.stringify(body);
  return {
    method,
    headers: { ...(role === null ? {} : as(role)), ...headers },
    ...(text === undefined ? {} : { body: text }),
    ...(signal ? { signal } : {}),
  };
}

interface Described {
  paths: Record<string, Record<string, { responses: Record<string, unknown> }>>;
}
const described = openApiDocument(ROUTES, 'test') as unknown as Described;

export function routeOf(method: string, path: string): Route | undefined {
  const [address = ''] = path.split('?');
  const fits = (template: string): boolean =>
    new RegExp(`^${template.replaceAll('.', '\\.').replaceAll(/\{\w+\}/g, '[^/]+')}$`).test(address);
  const found = ROUTES.filter((route) => route.method === method.toLowerCase() && fits(route.path));
  // `/v1/reflections/seen` also matches a template with a parameter; the exact path takes precedence.
  return found.find((route) => route.path === address) ?? found[0];
}

/** Expects a status that the OpenAPI document lists for this route, and a body that fits its schema. */
export function expectAsDescribed(method: string, path: string, response: Response, body: unknown): void {
  const route = routeOf(method, path);
  if (route === undefined) return;
  const statuses = Object.keys(described.paths[route.path]?.[route.method]?.responses ?? {});
  expect(statuses, `${method} ${route.path} answered ${JSON.stringify(body)}`).toContain(String(response.status));
  const answers: Answer[] = [route.answer, ...(route.moreAnswers ?? [])];
  const answer = answers.find(({ status }) => status === response.status);
  const schema = answer === undefined ? SCHEMAS.Problem : answer.schema && SCHEMAS[answer.schema];
  const type = answer === undefined ? 'application/problem+json' : 'application/json';
  expect(response.headers.get('content-type')).toBe(type);
  const parsed = schema?.safeParse(body);
  expect(parsed?.error?.issues ?? [], `${method} ${route.path}: ${JSON.stringify(body)}`).toEqual([]);
}
