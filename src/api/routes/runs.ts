import { answerJson, page } from '../json-answer.ts';
import { z } from 'zod';
import { CAP } from '../../protocol/caps.ts';
import { defined, isRecord } from '../../protocol/json.ts';
import type { RunRequest } from '../../protocol/run.ts';
import { type TokenGrant, tenantFor } from '../access.ts';
import { IDEMPOTENCY_KEY, idempotencyKey, once, readJson, readQuery, readRunId } from '../read-request.ts';
import type { Route } from '../route.ts';
import { cursor, filterText, limit } from '../schemas/shared-schemas.ts';
import { runOutcome, runState } from '../schemas/run.ts';

export const startRun: Route = {
  method: 'post',
  path: '/v1/runs',
  role: 'reporter',
  summary: 'Start a run',
  body: 'RunRequest',
  headers: [IDEMPOTENCY_KEY],
  answer: { status: 201, description: 'The run has started', schema: 'StartedRun' },
  problems: ['run_exists', 'idempotency_conflict'],
  handle: async (c, { runs }) => {
    const key = idempotencyKey(c);
    // `start` checks the request and reports every problem with its path.
    const request = ofTenant((await readJson(c, CAP.runInputBytes)) as RunRequest, c.get('grant'));
    const started = await once(key, () => runs.start(request, key === undefined ? {} : { idempotencyKey: key }));
    return answerJson(c, started, 201, { location: `/v1/runs/${started.run_id}` });
  },
};

/** A token that acts for a tenant starts runs of this tenant only. */
function ofTenant(request: RunRequest, grant: TokenGrant): RunRequest {
  if (grant.tenant === undefined || !isRecord(request)) return request;
  const asked = typeof request.tenant === 'string' ? request.tenant : undefined;
  return { ...request, ...defined({ tenant: tenantFor(grant, asked) }) };
}

/** Longer than any search that a person types. */
const SEARCH_CHARS = 500;

const listQuery = z.strictObject({
  state: runState.optional(),
  agent: filterText(CAP.nameChars).optional(),
  outcome: runOutcome.optional(),
  label: filterText(CAP.nameChars).optional(),
  search: z
    .string()
    .max(SEARCH_CHARS)
    .optional()
    .describe(
      'Words that id, goal, agent, labels and tenant of a run together contain. A page can be empty and have a cursor.',
    ),
  cursor: cursor.optional(),
  limit: limit.optional(),
});

export const listRuns: Route = {
  method: 'get',
  path: '/v1/runs',
  role: 'viewer',
  summary: 'List runs: open runs first, then ended ones, the latest first',
  query: listQuery,
  answer: { status: 200, description: 'One page of runs', schema: 'Runs' },
  handle: async (c, { runs }) => {
    const found = await runs.list(readQuery(c, listQuery));
    return answerJson(c, { runs: found.runs, ...page(found.next_cursor) });
  },
};

export const runStatus: Route = {
  method: 'get',
  path: '/v1/runs/{run_id}',
  role: 'viewer',
  summary: 'The status of a run',
  answer: { status: 200, description: 'The status', schema: 'RunStatus' },
  problems: ['run_not_found'],
  handle: async (c, { runs }) => answerJson(c, await runs.get(readRunId(c))),
};
