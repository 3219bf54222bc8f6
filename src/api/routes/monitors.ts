import { z } from 'zod';
import type { EnhancementSwitch } from '../../core/retry/switch-off.ts';
import { suggestName } from '../../define/zod-problems.ts';
import { CAP } from '../../protocol/caps.ts';
import { METRIC_BUCKETS } from '../../protocol/run-metrics.ts';
import { readMonitors } from '../../store/monitor-figures.ts';
import { answerJson } from '../json-answer.ts';
import { Problem } from '../problem.ts';
import { readBody, readQuery } from '../read-request.ts';
import type { Route } from '../route.ts';
import { SCHEMAS } from '../schemas/all-schemas.ts';
import { plainText } from '../schemas/shared-schemas.ts';

const MONTH_MS = 30 * 86_400_000;
/** What the monitors show unless a request says otherwise. */
export const monthAgo = (): string => new Date(Date.now() - MONTH_MS).toISOString();

const monitorsQuery = z.strictObject({
  agent: plainText(CAP.nameChars).optional(),
  model: plainText(CAP.nameChars).optional(),
  since: z.iso.datetime({ offset: true }).or(z.iso.date()).optional(),
  bucket: z.enum(METRIC_BUCKETS).optional().describe('The length of a period in `metrics.series`. Default: day'),
});

export const monitors: Route = {
  method: 'get',
  path: '/v1/monitors',
  role: 'viewer',
  summary:
    'How well retries work, how runs go and what they cost, by agent and over time; by default of the last 30 days',
  query: monitorsQuery,
  answer: { status: 200, description: 'The latest day first', schema: 'Monitors' },
  handle: async (c, deps) => {
    const { since = monthAgo(), ...filter } = readQuery(c, monitorsQuery);
    const { by_day, switches, ...rest } = await readMonitors(deps.store, { since, ...filter });
    return answerJson(c, { monitors: by_day, switches: switches.map(toSwitch), ...rest });
  },
};

export const switchEnhancement: Route = {
  method: 'post',
  path: '/v1/monitors/enhancement',
  role: 'operator',
  summary: "Switch the enhancement of an agent's prompts on or off, for runs that start from then on",
  body: 'SwitchRequest',
  answer: { status: 200, description: 'The new state of the switch', schema: 'Switched' },
  handle: async (c, { store, registry }) => {
    const { agent, enhancement, by, reason } = await readBody(c, SCHEMAS.SwitchRequest);
    // An agent that only other workers have is known here once the monitors have figures for it.
    if (!registry.agents.has(agent) && (await store.enhancement.all({ agent })).length === 0) {
      const message = `no agent named ${agent}${suggestName(agent, [...registry.agents.keys()])}`;
      throw new Problem('bad_request', 'Correct the named fields and send it again.', {
        errors: [{ path: '$.agent', message }],
      });
    }
    const redact = c.get('redact');
    const { switched, current } = await store.enhancement.switchTo(agent, {
      enhancement,
      by: redact(by),
      ...(reason !== undefined && { note: redact(reason) }),
    });
    return answerJson(c, { switched, ...toSwitch({ agent, ...current }) });
  },
};

/** Only agents whose switch was changed have an entry. For all others enhancement is on. */
const toSwitch = (entry: { agent: string } & EnhancementSwitch) => ({
  agent: entry.agent,
  enhancement: entry.enhancement,
  since: entry.since,
  by: entry.by,
  note: entry.note,
  reason: entry.enhancement === 'off' ? entry.reason : null,
  sentence: entry.enhancement === 'off' ? entry.sentence : null,
});
