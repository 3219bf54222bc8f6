import { z } from 'zod';
import { ENHANCEMENT_ON, type Evaluation, nextSwitch } from '../../core/retry/index.ts';
import { LIMIT } from '../../protocol/limits.ts';
import type { RetryEvaluation, RetryTotals } from '../../store/retry-monitors.ts';
import { answerJson } from '../answer-json.ts';
import type { ApiDeps } from '../context.ts';
import { readQuery } from '../read/read-query.ts';
import type { Route } from '../route.ts';
import { plainText } from '../schemas/parts.ts';

const MONTH_MS = 30 * 86_400_000;
/** What the rules look back on. */
const JUDGED = 200;

const monitorsQuery = z.strictObject({
  agent: plainText(LIMIT.nameChars).optional(),
  model: plainText(LIMIT.nameChars).optional(),
  since: z.iso.datetime({ offset: true }).or(z.iso.date()).optional(),
});

export const monitors: Route = {
  method: 'get',
  path: '/v1/monitors',
  role: 'viewer',
  summary: 'How well retries work and what they cost, by agent, model and day: the last 30 days unless told otherwise',
  query: monitorsQuery,
  answer: { status: 200, description: 'The latest day first', schema: 'Monitors' },
  handle: async (c, deps) => {
    const { agent, model, since } = readQuery(c, monitorsQuery);
    const from = since ?? new Date(Date.now() - MONTH_MS).toISOString();
    const filter = { since: from, ...(agent && { agent }), ...(model && { model }) };
    const totals = await deps.store.retryMonitors.totals(filter);
    const names = [...new Set(totals.map((row) => row.agent))].sort();
    const switches = await Promise.all(names.map((name) => switchOf(deps, name)));
    return answerJson(c, { monitors: totals.map(figuresOf), switches });
  },
};

const share = (part: number, whole: number): number | null => (whole === 0 ? null : part / whole);

/** No rate where there is nothing to divide by: no figure is better than a wrong one. */
const figuresOf = (row: RetryTotals) => ({
  agent: row.agent,
  model: row.model,
  day: row.day,
  evaluations: row.evaluations,
  first_attempt_success: share(row.first_ok, row.evaluations),
  retry_1_success: share(row.ok_after_retry_1, row.evaluations),
  retry_2_success: share(row.ok_after_retry_2, row.evaluations),
  final_success: share(row.final_ok, row.evaluations),
  recovered: row.recovered,
  recovery: share(row.recovered, row.evaluations - row.first_ok),
  added_seconds: row.added_ms / 1000,
  added_cost_micro_usd: row.added_cost_micro_usd,
  cost_per_extra_success_micro_usd: share(row.added_cost_micro_usd, row.recovered),
  runtime_overhead: share(row.added_ms, row.base_ms),
  cost_overhead: share(row.added_cost_micro_usd, row.base_cost_micro_usd),
});

/** What the rules say of an agent's latest evaluations. */
async function switchOf({ store }: ApiDeps, agent: string) {
  const rows = await store.retryMonitors.recent({ agent, limit: JUDGED });
  const judged = nextSwitch(ENHANCEMENT_ON, rows.toReversed().map(evaluationOf), new Date().toISOString());
  const off = judged.enhancement === 'off' ? judged : null;
  return {
    agent,
    enhancement: judged.enhancement,
    reason: off?.reason ?? null,
    sentence: off?.sentence ?? null,
    evaluations: rows.length,
  };
}

/** All further attempts as one: the rules only ask for the first, the last, and what was added. */
function evaluationOf(row: RetryEvaluation): Evaluation {
  const attempt = { category: null, wait_ms: 0, prompt_diff: null };
  const first = { ...attempt, ok: row.first_ok, duration_ms: row.base_ms, cost_micro_usd: row.base_cost_micro_usd };
  const rest = { ...attempt, ok: row.final_ok, duration_ms: row.added_ms, cost_micro_usd: row.added_cost_micro_usd };
  return {
    evaluation_id: `${row.run_id}:${row.step_id}`,
    agent: row.agent,
    model: row.model ?? '',
    subject: `${row.run_id}:${row.step_id}`,
    attempts: row.attempts > 1 ? [first, rest] : [first],
    other_ms: 0,
    other_cost_micro_usd: 0,
  };
}
