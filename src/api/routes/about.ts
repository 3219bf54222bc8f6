import { answerJson } from '../answers.ts';
import { docsPage } from '../docs-page.ts';
import { openApiDocument } from '../openapi.ts';
import type { Route } from '../route.ts';

/** What stands where a browser looks first. */
const welcome: Route = {
  method: 'get',
  path: '/',
  role: null,
  summary: 'What this server is',
  answer: { status: 200, description: 'Name, version and where its description is', schema: 'Welcome' },
  handle: (c, { version = 'unknown' }) =>
    answerJson(c, { name: 'secondwind', version, openapi: '/openapi.json', docs: '/docs' }),
};

/** The description holds every route, its own too. */
export function aboutRoutes(others: readonly Route[]): Route[] {
  let document: ReturnType<typeof openApiDocument> | undefined;
  let page: string | undefined;
  const description: Route = {
    method: 'get',
    path: '/openapi.json',
    role: null,
    summary: 'This description, OpenAPI 3.1',
    answer: { status: 200, description: 'The document', schema: 'OpenApi' },
    handle: (c, { version = 'unknown' }) => answerJson(c, (document ??= openApiDocument(all, version))),
  };
  const docs: Route = {
    method: 'get',
    path: '/docs',
    role: null,
    summary: 'This description as a page',
    answer: { status: 200, description: 'HTML without scripts', media: 'text/html' },
    handle: (c, { version = 'unknown' }) =>
      c.body((page ??= docsPage(all, version)), 200, {
        'content-type': 'text/html; charset=utf-8',
        // Nothing is loaded and nothing runs: the page is text.
        'content-security-policy': "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'",
      }),
  };
  const all = [...others, welcome, description, docs];
  return [welcome, description, docs];
}
