import { answerJson } from '../json-answer.ts';
import type { Route } from '../route.ts';

/** A page asks this first: whether its token is valid, and what it may offer. */
export const session: Route = {
  method: 'get',
  path: '/v1/session',
  role: 'viewer',
  summary: 'The role of the token, and the Temporal that runs are kept in',
  answer: { status: 200, description: 'The role, the version and the names of Temporal', schema: 'Session' },
  handle: (c, { version = 'unknown', temporal }) =>
    answerJson(c, {
      role: c.get('grant').role,
      version,
      temporal: { namespace: temporal?.namespace ?? 'default', ui_url: temporal?.uiUrl ?? null },
    }),
};
