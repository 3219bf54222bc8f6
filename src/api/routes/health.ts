import { answerJson } from '../answers.ts';
import type { ApiDeps } from '../context.ts';
import { Problem } from '../problem.ts';
import type { Route } from '../route.ts';
import { within } from '../../protocol/within.ts';

/** Longer than a healthy part ever needs, shorter than anybody who probes is ready to wait. */
const DEADLINE_MS = 2_000;
type PartState = 'ok' | 'failed' | 'no_answer';

/** The process itself: it says yes for as long as it can say anything. */
export const alive: Route = {
  method: 'get',
  path: '/healthz',
  role: null,
  summary: 'Whether the process lives',
  answer: { status: 200, description: 'It does', schema: 'Alive' },
  handle: (c) => answerJson(c, { status: 'ok' }),
};

export const ready: Route = {
  method: 'get',
  path: '/readyz',
  role: null,
  summary: 'Whether Temporal and the store answer',
  answer: { status: 200, description: 'Both do', schema: 'Ready' },
  problems: ['not_reachable'],
  handle: async (c, deps) => {
    const parts = await stateOfParts(deps);
    const missing = Object.entries(parts).flatMap(([name, state]) => (state === 'ok' ? [] : [name]));
    if (missing.length === 0) return answerJson(c, { status: 'ready', parts });
    // Only which part: anybody may ask this, and an error's text can name hosts and users.
    const detail = `Not reachable: ${missing.join(' and ')}. Start it, or look at its log; this answer turns 200 by itself.`;
    throw new Problem('not_reachable', detail, { more: { parts }, headers: { 'retry-after': '2' } });
  },
};

async function stateOfParts({ checks }: ApiDeps): Promise<Record<'temporal' | 'store', PartState>> {
  const [temporal, store] = await Promise.all([stateOf(checks.temporal), stateOf(checks.store)]);
  return { temporal, store };
}

function stateOf(check: () => Promise<unknown>): Promise<PartState> {
  const asked = (): Promise<PartState> =>
    check().then(
      () => 'ok',
      () => 'failed',
    );
  return within(DEADLINE_MS, asked, () => 'no_answer');
}
