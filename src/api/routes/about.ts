import { openApiDocument } from '../openapi.ts';
import type { Route } from '../route.ts';

/** What stands where a browser looks first. */
const welcome: Route = {
  method: 'get',
  path: '/',
  role: null,
  summary: 'What this server is',
  answer: { status: 200, description: 'Name, version and where its description is', schema: 'Welcome' },
  handle: (c, { version = 'unknown' }) => c.json({ name: 'secondwind', version, openapi: '/openapi.json' }),
};

/** The description holds every route, its own too. */
export function aboutRoutes(others: readonly Route[]): Route[] {
  let document: ReturnType<typeof openApiDocument> | undefined;
  const description: Route = {
    method: 'get',
    path: '/openapi.json',
    role: null,
    summary: 'This description, OpenAPI 3.1',
    answer: { status: 200, description: 'The document', schema: 'OpenApi' },
    handle: (c, { version = 'unknown' }) => c.json((document ??= openApiDocument(all, version))),
  };
  const all = [...others, welcome, description];
  return [welcome, description];
}
