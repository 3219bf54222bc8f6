import { z } from 'zod';
import { CAP } from '../../protocol/caps.ts';
import { answerJson } from '../answers.ts';
import { reportFailure } from '../failures/report-failure.ts';
import { Problem } from '../problem.ts';
import { IDEMPOTENCY_KEY, idempotencyKey, idOf, once, readBody, readQuery } from '../read-request.ts';
import type { Route } from '../route.ts';
import { SCHEMAS } from '../schemas/all-schemas.ts';
import { limit, plainText } from '../schemas/parts.ts';

/** A tool's message and the chunks of a retrieval; what is kept of them is far smaller. */
const REPORT_BYTES = 512 * 1024;

export const postFailure: Route = {
  method: 'post',
  path: '/v1/failures',
  role: 'reporter',
  summary: 'Report a failure that was seen elsewhere, and learn what the next attempt should know',
  body: 'FailureReport',
  headers: [IDEMPOTENCY_KEY],
  answer: { status: 201, description: 'It is kept', schema: 'FailureTaken' },
  problems: ['own_run', 'idempotency_conflict'],
  handle: async (c, deps) => {
    const key = idempotencyKey(c);
    const report = await readBody(c, SCHEMAS.FailureReport, REPORT_BYTES);
    const taken = await once(key, () => reportFailure(deps, report, { key, redact: c.get('redact') }));
    return answerJson(c, taken, 201);
  },
};

export const reviseFailure: Route = {
  method: 'post',
  path: '/v1/failures/{failure_id}/revisions',
  role: 'operator',
  summary: 'Set a failure aside; resolved it becomes by proof only',
  body: 'FailureRevisionRequest',
  answer: { status: 201, description: 'How its fingerprint stands now', schema: 'FailureRevised' },
  problems: ['failure_not_found'],
  handle: async (c, { store }) => {
    const failureId = idOf(c, 'failure_id', 'failure_not_found', 'This is not the id of a failure. Check the id.');
    const { by, reason } = await readBody(c, SCHEMAS.FailureRevisionRequest);
    const record = await store.records.get(failureId);
    const before = record && (await store.failureStatus.of(record.run_id, record.fingerprint));
    if (!record || !before) {
      throw new Problem(
        'failure_not_found',
        `There is no failure ${failureId}. Check the id; a run lists its failures.`,
      );
    }
    const redact = c.get('redact');
    const { run_id, fingerprint } = record;
    await store.revisions.append([
      {
        run_id,
        fingerprint,
        failure_id: before.last_failure_id,
        kind: 'superseded',
        step_id: before.last_seen_step_id,
        by: redact(by),
        reason: redact(reason),
        created_at: new Date().toISOString(),
      },
    ]);
    const now = (await store.failureStatus.of(run_id, fingerprint)) ?? before;
    const { status, occurrence_count, last_seen_step_id, helpful_count, harmful_count } = now;
    const standing = { status, occurrence_count, last_seen_step_id, helpful_count, harmful_count };
    return answerJson(c, { failure_id: failureId, fingerprint, ...standing }, 201);
  },
};

const MONTH_MS = 30 * 86_400_000;
const fingerprintsQuery = z.strictObject({
  agent: plainText(CAP.nameChars).optional(),
  since: z.iso.datetime({ offset: true }).or(z.iso.date()).optional(),
  limit: limit.optional(),
});

export const fingerprints: Route = {
  method: 'get',
  path: '/v1/fingerprints',
  role: 'viewer',
  summary: 'Failures grouped over runs, by day: for people, the last 30 days unless told otherwise',
  query: fingerprintsQuery,
  answer: { status: 200, description: 'The latest day first, the most frequent first', schema: 'Fingerprints' },
  handle: async (c, { store }) => {
    const { agent, since, limit: size } = readQuery(c, fingerprintsQuery);
    const from = since ?? new Date(Date.now() - MONTH_MS).toISOString();
    const filter = { since: from, ...(agent && { agent }), ...(size && { limit: size }) };
    return answerJson(c, { fingerprints: await store.records.fingerprintsByDay(filter) });
  },
};
