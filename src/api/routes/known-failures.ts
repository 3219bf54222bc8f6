import { z } from 'zod';
import { CAP } from '../../protocol/caps.ts';
import { defined } from '../../protocol/json.ts';
import { tenantSchema } from '../../protocol/schemas/tenant.ts';
import { tenantFor } from '../access.ts';
import { answerJson } from '../json-answer.ts';
import { readQuery } from '../read-request.ts';
import type { Route } from '../route.ts';
import { limit, plainText } from '../schemas/shared-schemas.ts';

const MONTH_MS = 30 * 86_400_000;
/** Two are compared side by side; the others show how much they differ. */
const SAMPLES = 10;

const listQuery = z.strictObject({
  q: z.string().min(1).max(CAP.textChars).optional(),
  tool: plainText(CAP.nameChars).optional(),
  code: plainText(80).optional(),
  agent: plainText(CAP.nameChars).optional(),
  tenant: tenantSchema.optional(),
  since: z.iso.datetime({ offset: true }).or(z.iso.date()).optional(),
  limit: limit.optional(),
});

export const knownFailures: Route = {
  method: 'get',
  path: '/v1/known-failures',
  role: 'viewer',
  summary:
    'One row per fingerprint over all runs: counts, days, status and lesson; by default of the last 30 days. Search with `q` (words of the message, the tool, the code or the agent), `tool` and `code`',
  query: listQuery,
  answer: {
    status: 200,
    description: 'The one that was seen last first; of a search, the best match first',
    schema: 'KnownFailures',
  },
  handle: async (c, { store }) => {
    const { since = new Date(Date.now() - MONTH_MS).toISOString(), tenant: named, ...filter } = readQuery(c, listQuery);
    const tenant = tenantFor(c.get('grant'), named);
    const known = await store.knownFailures.list({ since, ...filter, ...defined({ tenant }) });
    return answerJson(c, { known_failures: known });
  },
};

const samplesQuery = z.strictObject({ fingerprint: plainText(200), tenant: tenantSchema.optional() });

export const failureSamples: Route = {
  method: 'get',
  path: '/v1/known-failures/samples',
  role: 'viewer',
  summary: 'The latest failures with a fingerprint',
  query: samplesQuery,
  answer: { status: 200, description: 'The latest first', schema: 'FailureSamples' },
  handle: async (c, { store }) => {
    const { fingerprint, tenant: named } = readQuery(c, samplesQuery);
    const tenant = tenantFor(c.get('grant'), named);
    const { items } = await store.records.list({ fingerprint, limit: SAMPLES, ...defined({ tenant }) });
    return answerJson(c, { samples: items });
  },
};
