import { z } from 'zod';
import { CAP } from '../../protocol/caps.ts';
import { idSchema } from '../../protocol/schemas/failure-record.ts';
import { answerJson, page } from '../json-answer.ts';
import { Problem } from '../problem.ts';
import { readBody, readId, readQuery, readRunId } from '../read-request.ts';
import type { Route } from '../route.ts';
import { SCHEMAS } from '../schemas/all-schemas.ts';
import { cursor, limit, plainText } from '../schemas/shared-schemas.ts';
import { monthAgo } from './monitors.ts';

const listQuery = z.strictObject({
  agent: plainText(CAP.nameChars).optional(),
  run_id: idSchema.optional(),
  since: z.iso.datetime({ offset: true }).or(z.iso.date()).optional(),
  cursor: cursor.optional(),
  limit: limit.optional(),
});

export const decisions: Route = {
  method: 'get',
  path: '/v1/decisions',
  role: 'viewer',
  summary: 'What guards decided, and what people said about it; by default of the last 30 days',
  query: listQuery,
  answer: { status: 200, description: 'The latest first', schema: 'Decisions' },
  handle: async (c, { store }) => {
    const { since = monthAgo(), ...filter } = readQuery(c, listQuery);
    const { items, next_cursor } = await store.guardDecisions.list({ since, ...filter });
    return answerJson(c, { decisions: items, ...page(next_cursor) });
  },
};

const NO_DECISION =
  'This run has no such decision. GET /v1/decisions lists them; a decision is stored with the next write of its run.';

export const judgeDecision: Route = {
  method: 'post',
  path: '/v1/runs/{run_id}/decisions/{decision_id}/verdict',
  role: 'operator',
  summary: 'Say that a decision of a guard was wrong, or that it was right after all. The latest verdict counts',
  body: 'VerdictRequest',
  answer: { status: 201, description: 'The stored verdict', schema: 'DecisionVerdict' },
  problems: ['run_not_found', 'decision_not_found'],
  handle: async (c, { store }) => {
    const run_id = readRunId(c);
    const decision_id = readId(c, 'decision_id', 'decision_not_found', NO_DECISION);
    const { wrong, by, reason } = await readBody(c, SCHEMAS.VerdictRequest);
    const redact = c.get('redact');
    const said = { wrong, by: redact(by), reason: reason === undefined ? null : redact(reason) };
    const stored = await store.guardDecisions.judge({ run_id, decision_id }, said);
    if (stored === null) throw new Problem('decision_not_found', NO_DECISION);
    return answerJson(c, stored, 201);
  },
};
