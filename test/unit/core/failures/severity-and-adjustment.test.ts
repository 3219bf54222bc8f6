import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { recommendAdjustment } from '../../../../src/core/failures/adjustment.ts';
import { defaultSeverity } from '../../../../src/core/failures/severity.ts';
import type { AdjustmentInput } from '../../../../src/core/failures/adjustment.ts';
import type { SeverityInput } from '../../../../src/core/failures/severity.ts';
import { FAILURE_CATEGORIES } from '../../../../src/protocol/failure-categories.ts';
import {
  outcomeKindSchema,
  recommendedAdjustmentSchema,
  signalTypeSchema,
} from '../../../../src/protocol/schemas/failure-record.ts';
import type { Severity } from '../../../../src/protocol/schemas/failure-record.ts';

describe('the default severity', () => {
  const TABLE: readonly (readonly [Severity, SeverityInput])[] = [
    ['critical', { signal_type: 'tool_error', kind: 'pointer_unresolved' }],
    ['critical', { signal_type: 'contract_violation', kind: 'repair_exhausted' }],
    ['high', { signal_type: 'tool_error', kind: 'exception', category: 'auth' }],
    ['high', { signal_type: 'tool_error', kind: 'exception', category: 'quota' }],
    ['high', { signal_type: 'tool_error', kind: 'side_effect_unknown' }],
    ['high', { signal_type: 'loop_stall', kind: 'repeated_call' }],
    ['high', { signal_type: 'budget_pressure', kind: 'near_limit' }],
    ['medium', { signal_type: 'tool_error', kind: 'exception', category: 'server_error' }],
    ['medium', { signal_type: 'tool_error', kind: 'timeout' }],
    ['medium', { signal_type: 'contract_violation', kind: 'schema_violation' }],
    ['medium', { signal_type: 'human_correction', kind: 'correction' }],
    ['low', { signal_type: 'retrieval_failure', kind: 'empty_result' }],
    ['low', { signal_type: 'retrieval_failure', kind: 'low_confidence' }],
    ['low', { signal_type: 'retrieval_failure', kind: 'no_evidence' }],
    ['low', { signal_type: 'budget_pressure', kind: 'soft_limit' }],
  ];
  it.each(TABLE)('%s: %j', (severity, seen) => {
    expect(defaultSeverity(seen)).toBe(severity);
  });
});

describe('the recommended adjustment', () => {
  const tool_name = 'fetch';
  const error = { signal_type: 'tool_error', kind: 'exception', tool_name } as const;
  const timeout = { signal_type: 'tool_error', kind: 'timeout', tool_name } as const;
  const retrieval = { signal_type: 'retrieval_failure', tool_name } as const;
  const contract = { signal_type: 'contract_violation', kind: 'schema_violation', tool_name } as const;

  const TABLE: readonly (readonly [name: string, AdjustmentInput, adjustment: object])[] = [
    [
      'a time-out doubles the limit',
      { ...timeout, timeout_ms: 20_000 },
      { type: 'set_timeout', tool_name, timeout_ms: 40_000 },
    ],
    ['up to the longest', { ...timeout, timeout_ms: 400_000 }, { type: 'set_timeout', tool_name, timeout_ms: 600_000 }],
    [
      'up to the longest that the tool allows',
      { ...timeout, timeout_ms: 20_000, max_timeout_ms: 30_000 },
      { type: 'set_timeout', tool_name, timeout_ms: 30_000 },
    ],
    ['at the longest: less work', { ...timeout, timeout_ms: 600_000 }, { type: 'reduce_scope', budget: 'seconds' }],
    ['an unknown limit counts as 30 s', timeout, { type: 'set_timeout', tool_name, timeout_ms: 60_000 }],
    [
      'too large an output is capped',
      { ...error, error_code: 'OUTPUT_TOO_LARGE', max_bytes: 8_192 },
      { type: 'cap_output', tool_name, max_bytes: 8_192 },
    ],
    [
      'or asked for in smaller pages',
      { ...error, error_code: 'OUTPUT_TOO_LARGE', page: { argument: 'limit', size: 100 } },
      { type: 'paginate', tool_name, page_size: 50, argument: 'limit' },
    ],
    [
      'a page of unknown size becomes one of 50',
      { ...error, error_code: 'RESPONSE_TOO_LARGE', page: { argument: 'limit' } },
      { type: 'paginate', tool_name, page_size: 50, argument: 'limit' },
    ],
    [
      'a single item that is too large is capped',
      { ...error, error_code: 'OUTPUT_TOO_LARGE', page: { argument: 'limit', size: 1 }, max_bytes: 8_192 },
      { type: 'cap_output', tool_name, max_bytes: 8_192 },
    ],
    ['nothing found', { ...retrieval, kind: 'empty_result' }, { type: 'broaden_query', tool_name }],
    ['little found', { ...retrieval, kind: 'low_confidence' }, { type: 'broaden_query', tool_name }],
    ['no evidence', { ...retrieval, kind: 'no_evidence' }, { type: 'broaden_query', tool_name }],
    [
      'an output that breaks its schema',
      { ...contract, paths: ['$.a'] },
      { type: 'fix_schema', tool_name, paths: ['$.a'] },
    ],
    [
      'arguments that break it',
      { ...contract, category: 'invalid_input', paths: ['$.q'] },
      { type: 'change_arguments', tool_name, paths: ['$.q'] },
    ],
    [
      'a plan that breaks it',
      { ...contract, tool_name: null, paths: ['$.steps'] },
      { type: 'fix_schema', tool_name: 'plan', paths: ['$.steps'] },
    ],
    [
      'repair exhausted',
      { ...contract, kind: 'repair_exhausted', paths: ['$.a'] },
      { type: 'fix_schema', tool_name, paths: ['$.a'] },
    ],
    [
      'grounding missed',
      { ...contract, category: 'validation_grounding' },
      { type: 'fix_schema', tool_name, paths: ['grounding'] },
    ],
    [
      'an unknown validation is as both',
      { ...contract, category: 'validation_unknown' },
      { type: 'fix_schema', tool_name, paths: ['grounding', 'reasoning'] },
    ],
    ['credentials', { ...error, category: 'auth' }, { type: 'ask_human', reason: 'credentials were refused' }],
    ['quota', { ...error, category: 'quota' }, { type: 'ask_human', reason: 'a quota is used up' }],
    [
      'unknown side effect',
      { ...error, kind: 'side_effect_unknown' },
      { type: 'ask_human', reason: 'it is unknown whether the call took effect' },
    ],
    ['a stall', { signal_type: 'loop_stall', kind: 'repeated_call', tool_name }, { type: 'use_other_tool', tool_name }],
    [
      'a budget',
      { signal_type: 'budget_pressure', kind: 'soft_limit', tool_name: null, budget: 'tokens' },
      { type: 'reduce_scope', budget: 'tokens' },
    ],
    ['rate limit', { ...error, category: 'rate_limit' }, { type: 'reduce_scope', budget: 'requests' }],
    ['server error', { ...error, category: 'server_error' }, { type: 'use_other_tool', tool_name }],
    ['network', { ...error, category: 'network' }, { type: 'use_other_tool', tool_name }],
    ['too long a context', { ...error, category: 'context_length' }, { type: 'reduce_scope', budget: 'tokens' }],
    ['an exception that no rule knows', error, { type: 'change_arguments', tool_name, paths: [] }],
    [
      'a missing pointer',
      { ...error, kind: 'pointer_unresolved', paths: ['$.file'] },
      { type: 'change_arguments', tool_name, paths: ['$.file'] },
    ],
    [
      'what a person ruled out',
      { ...error, denied: { host: 'evil.example.com' } },
      { type: 'deny', tool_name, host: 'evil.example.com' },
    ],
  ];
  it.each(TABLE)('%s', (_name, seen, adjustment) => {
    expect(recommendAdjustment(seen)).toEqual(adjustment);
  });

  it('the recommended adjustment fits its schema for every outcome, category and signal', () => {
    fc.assert(
      fc.property(
        fc.record(
          {
            signal_type: fc.constantFrom(...signalTypeSchema.options),
            kind: fc.constantFrom(...outcomeKindSchema.options),
            category: fc.constantFrom(...FAILURE_CATEGORIES),
            tool_name: fc.option(fc.string({ maxLength: 128 })),
            error_code: fc.constantFrom('OUTPUT_TOO_LARGE', 'X', null),
            timeout_ms: fc.integer({ min: 1, max: 10_000_000 }),
            page: fc.record({ argument: fc.string(), size: fc.integer({ min: 1, max: 10 }) }),
            paths: fc.array(fc.string({ maxLength: 300 }), { maxLength: 30 }),
            budget: fc.string({ maxLength: 100 }),
          },
          { requiredKeys: ['signal_type', 'kind', 'tool_name'] },
        ),
        (seen) => {
          const adjustment = recommendAdjustment(seen);
          expect(recommendedAdjustmentSchema.parse(adjustment)).toEqual(adjustment);
        },
      ),
      { numRuns: 1_000 },
    );
  });
});
