import { answerJson } from '../json-answer.ts';
import { docsPage } from '../docs-page.ts';
import { DASHBOARD_PATH, wantsPage } from '../dashboard/serve-dashboard.ts';
import { openApiDocument } from '../openapi.ts';
import type { Route } from '../route.ts';

/** The answer at the root path. */
const welcome: Route = {
  method: 'get',
  path: '/',
  role: null,
  summary: 'What this server is',
  answer: { status: 200, description: 'Name, version and the address of the description', schema: 'Welcome' },
  handle: (c, { version = 'unknown', dashboard }) =>
    // The browser keeps the fragment with the token, and never sends it.
    dashboard !== undefined && wantsPage(c)
      ? c.redirect(DASHBOARD_PATH)
      : answerJson(c, { name: 'secondwind', version, openapi: '/openapi.json', docs: '/docs' }),
};

/** The description lists every route, including these. */
export function aboutRoutes(others: readonly Route[]): Route[] {
  let document: ReturnType<typeof openApiDocument> | undefined;
  let page: string | undefined;
  const description: Route = {
    method: 'get',
    path: '/openapi.json',
    role: null,
    summary: 'This description as OpenAPI 3.1',
    answer: { status: 200, description: 'The document', schema: 'OpenApi' },
    handle: (c, { version = 'unknown' }) => answerJson(c, (document ??= openApiDocument(all, version))),
  };
  const docs: Route = {
    method: 'get',
    path: '/docs',
    role: null,
    summary: 'This description as an HTML page',
    answer: { status: 200, description: 'HTML without scripts', media: 'text/html' },
    handle: (c, { version = 'unknown' }) =>
      c.body((page ??= docsPage(all, version)), 200, {
        'content-type': 'text/html; charset=utf-8',
        // The page needs no scripts and no external resources, so the browser is told to allow none.
        'content-security-policy': "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'",
      }),
  };
  const all = [...others, welcome, description, docs];
  return [welcome, description, docs];
}
