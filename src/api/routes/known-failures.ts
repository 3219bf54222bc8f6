import { z } from 'zod';
import { CAP } from '../../protocol/caps.ts';
import { defined } from '../../protocol/json.ts';
import { answerJson } from '../json-answer.ts';
import { readQuery } from '../read-request.ts';
import type { Route } from '../route.ts';
import { limit, plainText } from '../schemas/shared-schemas.ts';

const MONTH_MS = 30 * 86_400_000;
/** Two are compared side by side; the others show how much they differ. */
const SAMPLES = 10;

const listQuery = z.strictObject({
  agent: plainText(CAP.nameChars).optional(),
  since: z.iso.datetime({ offset: true }).or(z.iso.date()).optional(),
  limit: limit.optional(),
});

export const knownFailures: Route = {
  method: 'get',
  path: '/v1/known-failures',
  role: 'viewer',
  summary: 'One row per fingerprint over all runs: counts, days, status and lesson; by default of the last 30 days',
  query: listQuery,
  answer: { status: 200, description: 'The one that was seen last first', schema: 'KnownFailures' },
  handle: async (c, { store }) => {
    const { agent, since = new Date(Date.now() - MONTH_MS).toISOString(), limit: size } = readQuery(c, listQuery);
    const known = await store.knownFailures.list({ since, ...defined({ agent, limit: size }) });
    return answerJson(c, { known_failures: known });
  },
};

const samplesQuery = z.strictObject({ fingerprint: plainText(200) });

export const failureSamples: Route = {
  method: 'get',
  path: '/v1/known-failures/samples',
  role: 'viewer',
  summary: 'The latest failures with a fingerprint',
  query: samplesQuery,
  answer: { status: 200, description: 'The latest first', schema: 'FailureSamples' },
  handle: async (c, { store }) => {
    const { fingerprint } = readQuery(c, samplesQuery);
    const { items } = await store.records.list({ fingerprint, limit: SAMPLES });
    return answerJson(c, { samples: items });
  },
};
