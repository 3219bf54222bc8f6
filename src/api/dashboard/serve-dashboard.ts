import type { Hono } from 'hono';
import type { ApiContext, ApiEnv } from '../api-context.ts';
import { Problem } from '../problem.ts';
import { type DashboardFile, type DashboardFiles, INDEX } from './dashboard-files.ts';

/** Where the dashboard is served. `base` of its build is the same path. */
export const DASHBOARD_PATH = '/ui/';

/**
 * Only the files of the dashboard run, and they talk only to this server. Nothing is inline, so text of a tool cannot become a
 * script or a style, and `require-trusted-types-for` refuses to turn text into markup at all.
 */
const HEADERS = {
  'content-security-policy': [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self'",
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
    "trusted-types 'none'",
  ].join('; '),
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'x-frame-options': 'DENY',
} as const;

/** Serves the dashboard. It needs no token, because it contains no data: the page asks the API with the token of its reader. */
export function serveDashboard(app: Hono<ApiEnv>, files: DashboardFiles): void {
  app.get(DASHBOARD_PATH.slice(0, -1), (c) => c.redirect(DASHBOARD_PATH));
  app.get(`${DASHBOARD_PATH}*`, (c) => {
    const name = c.req.path.slice(DASHBOARD_PATH.length);
    const file = files.get(name) ?? (isPage(name) ? files.get(INDEX) : undefined);
    if (file === undefined) throw new Problem('no_route', 'The dashboard has no such file. Open /ui/ again.');
    return answerFile(c, file);
  });
}

/** The dashboard chooses its page by the path. A name with an extension is a file, and may be one of an older build. */
const isPage = (name: string): boolean => !(name.split('/').at(-1) ?? '').includes('.') || name.startsWith('runs/');

function answerFile(c: ApiContext, { bytes, gzipped, type, isImmutable }: DashboardFile): Response {
  const isGzip = /\bgzip\b/.test(c.req.header('accept-encoding') ?? '');
  return c.body(new Uint8Array(isGzip ? gzipped : bytes), 200, {
    ...HEADERS,
    'content-type': type,
    vary: 'accept-encoding',
    'cache-control': isImmutable ? 'public, max-age=31536000, immutable' : 'no-cache',
    ...(isGzip && { 'content-encoding': 'gzip' }),
  });
}

/** Whether a request comes from a person who opens a page, and not from a program. */
export const wantsPage = (c: ApiContext): boolean => (c.req.header('accept') ?? '').includes('text/html');
