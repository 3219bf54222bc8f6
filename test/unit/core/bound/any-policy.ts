import * as fc from 'fast-check';
import type { PolicyPatch } from '../../../../src/protocol/schemas/policy.ts';

const upTo = (max: number, min = 0) => fc.integer({ min, max });

/** Policies over the usual ranges and a little beyond. The API accepts every value. */
export const anyPolicy: fc.Arbitrary<PolicyPatch> = fc.record({
  mode: fc.constantFrom('enforce' as const, 'guide' as const, 'observe' as const),
  retry: fc.record({
    validation: upTo(4),
    rate_limit: upTo(6),
    network: upTo(5),
    server_error: upTo(5),
    timeout: upTo(4),
    context_length: upTo(2),
    worker_lost: upTo(3),
    unknown_error: upTo(3),
    base_ms: upTo(2_000, 1),
    factor: fc.constantFrom(1, 1.5, 2, 3, 10),
    max_wait_ms: upTo(60_000, 1),
  }),
  failures: fc.record({ escalate_at: upTo(5, 1) }),
  reruns: fc.record({ max_reruns: upTo(4) }),
  budget: fc.record({
    max_steps: upTo(30, 1),
    max_attempts: upTo(60, 1),
    max_model_calls: upTo(20),
    max_tokens: upTo(5_000),
    max_cost_micro_usd: fc.option(upTo(5_000), { nil: null }),
    max_seconds: fc.oneof(upTo(30, 1), fc.constant(86_400)),
  }),
  humans: fc.record({
    max_overrides: upTo(3),
    max_questions: upTo(4),
    max_feedback: upTo(3),
    deadline_ms: upTo(600_000, 1),
    chain: fc.array(fc.constantFrom('lead', 'boss'), { maxLength: 2 }),
    default: fc.constantFrom('stop' as const, 'skip' as const, 'deny' as const),
  }),
});
