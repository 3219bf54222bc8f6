/** Measures how fast failures get their fingerprints, and how fast guidance is selected from many failures. */
import { emptyFailureMemory } from '../src/core/failures/folded-failure.ts';
import { fingerprintOf } from '../src/core/failures/fingerprint.ts';
import { addFailure } from '../src/core/failures/failure-memory.ts';
import { selectGuidance } from '../src/core/failures/guidance.ts';
import type { FailureRecord, Severity } from '../src/protocol/schemas/failure-record.ts';
import { measure, named } from './latency.ts';
import type { Figures } from './report.ts';

const SEVERITIES: readonly Severity[] = ['low', 'medium', 'high', 'critical'];
/** Far more than a run's state keeps. The bar is for a store with all failures of an agent. */
const FAILURES = 10_000;

const messageOf = (n: number): string =>
  `Error: connect ECONNREFUSED 10.0.${n % 256}.7:${1024 + (n % 5000)}\n    at /srv/app/${n}/client.js:${n}:${n % 80}\n` +
  `    request ${n.toString(16).padStart(32, 'a')} took ${n} ms`;

const record = (n: number): FailureRecord => ({
  failure_id: `run:s${n}:a1:f1`,
  run_id: 'run',
  step_id: n,
  phase: `phase ${n % 7}`,
  signal_type: 'tool_error',
  severity: SEVERITIES[n % SEVERITIES.length] ?? 'low',
  fingerprint: `fp1:tool_error:tool-${n % 50}:E${n % 20}:${n}`,
  attempted_action: {
    action_id: `run:s${n}`,
    tool_name: `tool-${n % 50}`,
    tool_call_id: `run:s${n}:a1`,
    input_hash: `${n}`,
  },
  observed_outcome: { kind: 'exception', error_code: `E${n % 20}`, message_preview: 'refused', duration_ms: 1 },
  recommended_adjustment: { type: 'set_timeout', tool_name: `tool-${n % 50}`, timeout_ms: 2_000 },
  context_refs: {},
  created_at: '2026-03-01T09:00:00.000Z',
});

export async function benchFailures(quick: boolean): Promise<Figures> {
  const fingerprints = quick ? 5_000 : 50_000;
  const messages = Array.from({ length: 1_000 }, (_, n) => messageOf(n));
  const name = (n: number): string =>
    fingerprintOf({
      signal_type: 'tool_error',
      tool_name: 'http',
      error_code: 'ECONNREFUSED',
      message: messages[n % 1_000],
    });
  for (let n = 0; n < 1_000; n += 1) name(n);
  const startedAt = performance.now();
  for (let n = 0; n < fingerprints; n += 1) name(n);
  const seconds = (performance.now() - startedAt) / 1_000;

  let memory = emptyFailureMemory();
  // Each `remember` copies the list, so this is slow; only the selection is measured.
  for (let n = 0; n < FAILURES; n += 1) memory = addFailure(memory, record(n), { max_fingerprints: FAILURES });
  const situation = (n: number) => ({
    tool_name: `tool-${n % 50}`,
    phase: `phase ${n % 7}`,
    fingerprint: `fp1:tool_error:tool-${n % 50}:E${n % 20}:${n}`,
    error_code: `E${n % 20}`,
    signal_type: 'tool_error' as const,
  });
  const selection = await measure(quick ? 200 : 2_000, (n) => {
    const { rows } = selectGuidance(memory, situation(n), { k: 5, maxChars: 1_200 });
    if (rows.length !== 5) throw new Error(`${rows.length} rows were chosen`);
  });
  return { fingerprints_per_s: fingerprints / seconds, ...named('guidance_of_10000_failures', selection) };
}
