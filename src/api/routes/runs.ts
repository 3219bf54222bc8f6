import { isId, sha256Hex } from '../../protocol/ids.ts';
import { LIMIT } from '../../protocol/limits.ts';
import type { ApiContext } from '../context.ts';
import { Problem } from '../problem.ts';
import { readJson } from '../read-json.ts';
import type { Route } from '../route.ts';

const KEY = /^[\x21-\x7e]{1,200}$/;

export const startRun: Route = {
  method: 'post',
  path: '/v1/runs',
  role: 'reporter',
  summary: 'Start a run',
  body: 'RunRequest',
  headers: [{ name: 'Idempotency-Key', description: 'The same key with the same body gives the same run' }],
  answer: { status: 201, description: 'The run has started', schema: 'StartedRun' },
  problems: ['run_exists', 'idempotency_conflict', 'not_reachable'],
  handle: async (c, { runs }) => {
    const key = idempotencyKey(c);
    const request = await readJson(c, LIMIT.runInputBytes);
    const started = await runs.start(request, key === undefined ? {} : { idempotencyKey: key });
    return c.json(started, 201, { location: `/v1/runs/${started.run_id}` });
  },
};

export const runStatus: Route = {
  method: 'get',
  path: '/v1/runs/{run_id}',
  role: 'viewer',
  summary: 'How a run stands',
  answer: { status: 200, description: 'Its status', schema: 'RunStatus' },
  problems: ['run_not_found', 'not_reachable'],
  handle: async (c, { runs }) => {
    const runId = c.req.param('run_id');
    // No run can have such an id, so nobody needs to be asked.
    if (!isId(runId)) throw new Problem('run_not_found', 'This is not the id of a run. Check the id.');
    return c.json(await runs.status(runId));
  },
};

/** A key belongs to the token that shows it: two clients that both count from 1 do not meet. */
function idempotencyKey(c: ApiContext): string | undefined {
  const key = c.req.header('idempotency-key');
  if (key === undefined) return undefined;
  if (KEY.test(key)) return sha256Hex(`${sha256Hex(c.get('grant').token)}:${key}`);
  const message = 'expected 1 to 200 visible ASCII characters';
  throw new Problem('bad_request', 'Correct the header Idempotency-Key or leave it out.', {
    errors: [{ path: 'Idempotency-Key', message }],
  });
}
