import { z } from 'zod';
import { CAP } from '../../protocol/caps.ts';
import { defined } from '../../protocol/json.ts';
import { tenantSchema } from '../../protocol/schemas/tenant.ts';
import { tenantFor } from '../access.ts';
import { answerJson } from '../json-answer.ts';
import { reportFailure } from '../failures/report-failure.ts';
import { Problem } from '../problem.ts';
import { IDEMPOTENCY_KEY, idempotencyKey, readId, once, readBody, readQuery } from '../read-request.ts';
import type { Route } from '../route.ts';
import { SCHEMAS } from '../schemas/all-schemas.ts';
import { limit, plainText } from '../schemas/shared-schemas.ts';

/** Enough for the message of a tool and the chunks of a retrieval, of which much less is stored. */
const REPORT_BYTES = 512 * 1024;

export const postFailure: Route = {
  method: 'post',
  path: '/v1/failures',
  role: 'reporter',
  summary: 'Report a failure that happened elsewhere and get guidance for the next attempt',
  body: 'FailureReport',
  headers: [IDEMPOTENCY_KEY],
  answer: { status: 201, description: 'The failure is stored', schema: 'FailureTaken' },
  problems: ['own_run', 'idempotency_conflict'],
  handle: async (c, deps) => {
    const key = idempotencyKey(c);
    const report = await readBody(c, SCHEMAS.FailureReport, REPORT_BYTES);
    const { tenant: named, ...failure } = report;
    const tenant = tenantFor(c.get('grant'), named);
    const taken = await once(key, () => reportFailure(deps, failure, { key, redact: c.get('redact'), tenant }));
    return answerJson(c, taken, 201);
  },
};

export const reviseFailure: Route = {
  method: 'post',
  path: '/v1/failures/{failure_id}/revisions',
  role: 'operator',
  summary: 'Supersede a failure, also in its open run. It can become resolved only by proof',
  body: 'FailureRevisionRequest',
  answer: { status: 201, description: 'The current status of its fingerprint', schema: 'FailureRevised' },
  problems: ['failure_not_found'],
  handle: async (c, { store, inspector }) => {
    const failureId = readId(c, 'failure_id', 'failure_not_found', 'This is not a valid failure id. Check the id.');
    const { by, reason } = await readBody(c, SCHEMAS.FailureRevisionRequest);
    const record = await store.records.get(failureId);
    const { tenant } = c.get('grant');
    const isOwn = tenant === undefined || (await store.records.tenantOf(failureId)) === tenant;
    const before = record && isOwn && (await store.failureStatus.of(record.run_id, record.fingerprint));
    if (!record || !before) {
      throw new Problem(
        'failure_not_found',
        `There is no failure ${failureId}. Check the id: GET /v1/runs/{run_id}/failures lists the failures of a run.`,
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
    await inspector.supersede(run_id, { fingerprint, by, reason });
    const now = (await store.failureStatus.of(run_id, fingerprint)) ?? before;
    const { status, occurrence_count, last_seen_step_id, helpful_count, harmful_count } = now;
    const standing = { status, occurrence_count, last_seen_step_id, helpful_count, harmful_count };
    return answerJson(c, { failure_id: failureId, fingerprint, ...standing }, 201);
  },
};

const MONTH_MS = 30 * 86_400_000;
const fingerprintsQuery = z.strictObject({
  agent: plainText(CAP.nameChars).optional(),
  tenant: tenantSchema.optional(),
  since: z.iso.datetime({ offset: true }).or(z.iso.date()).optional(),
  limit: limit.optional(),
});

export const fingerprints: Route = {
  method: 'get',
  path: '/v1/fingerprints',
  role: 'viewer',
  summary: 'Failures of all runs, grouped by fingerprint and day; by default of the last 30 days',
  query: fingerprintsQuery,
  answer: { status: 200, description: 'The latest day first, then the most frequent', schema: 'Fingerprints' },
  handle: async (c, { store }) => {
    const { agent, since, limit: size, tenant: named } = readQuery(c, fingerprintsQuery);
    const tenant = tenantFor(c.get('grant'), named);
    const from = since ?? new Date(Date.now() - MONTH_MS).toISOString();
    const filter = { since: from, ...defined({ agent, tenant, limit: size }) };
    return answerJson(c, { fingerprints: await store.records.fingerprintsByDay(filter) });
  },
};
