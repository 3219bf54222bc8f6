import { answerJson } from '../json-answer.ts';
import type { ApiDeps } from '../api-context.ts';
import { Problem } from '../problem.ts';
import type { Route } from '../route.ts';
import { within } from '../../protocol/within.ts';

/** Longer than a healthy service needs, and shorter than the timeout of common probes. */
const DEADLINE_MS = 2_000;
type PartState = 'ok' | 'failed' | 'no_answer';

/** Liveness: answers 200 as long as the process can answer at all. */
export const alive: Route = {
  method: 'get',
  path: '/healthz',
  role: null,
  summary: 'Whether the process is alive',
  answer: { status: 200, description: 'The process is alive', schema: 'Alive' },
  handle: (c) => answerJson(c, { status: 'ok' }),
};

export const ready: Route = {
  method: 'get',
  path: '/readyz',
  role: null,
  summary: 'Whether Temporal and the store answer',
  answer: { status: 200, description: 'Both answer', schema: 'Ready' },
  problems: ['not_reachable'],
  handle: async (c, deps) => {
    const parts = await checkParts(deps);
    const missing = Object.entries(parts).flatMap(([name, state]) => (state === 'ok' ? [] : [name]));
    if (missing.length === 0) return answerJson(c, { status: 'ready', parts });
    // The answer names only the service, because the route needs no token and error messages can contain hosts and users.
    const detail = `Not ready: ${missing.join(' and ')}. Start it or look at its log; the store has to take writes. This route answers 200 once it is ready.`;
    throw new Problem('not_reachable', detail, { more: { parts }, headers: { 'retry-after': '2' } });
  },
};

async function checkParts({ checks }: ApiDeps): Promise<Record<'temporal' | 'store', PartState>> {
  const [temporal, store] = await Promise.all([checkState(checks.temporal), checkState(checks.store)]);
  return { temporal, store };
}

function checkState(check: () => Promise<unknown>): Promise<PartState> {
  const asked = (): Promise<PartState> =>
    check().then(
      () => 'ok',
      () => 'failed',
    );
  return within(DEADLINE_MS, asked, () => 'no_answer');
}
