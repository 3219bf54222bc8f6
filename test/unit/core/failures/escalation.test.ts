import { describe, expect, it } from 'vitest';
import { escalate, escalateRepeats } from '../../../../src/core/failures/escalation.ts';
import type { Escalation, FailureToDecide } from '../../../../src/core/failures/escalation.ts';
import { ESCALATION_TABLE } from '../../../../src/core/failures/escalation.ts';
import { FAILURE_CATEGORIES } from '../../../../src/protocol/failure-categories.ts';
import { outcomeKindSchema } from '../../../../src/protocol/schemas/failure-record.ts';

const failure = (parts: Partial<FailureToDecide>): FailureToDecide => ({
  kind: 'exception',
  planner: 'chooses',
  exhausted: true,
  occurrences_since_progress: 1,
  escalate_at: 3,
  effect: 'read',
  certainty: 'failed',
  ...parts,
});

const TABLE: readonly (readonly [name: string, Partial<FailureToDecide>, Escalation['action']])[] = [
  ['retries left: retry, however often it failed', { exhausted: false, occurrences_since_progress: 9 }, 'retry'],
  ['retries left in a given plan: retry', { exhausted: false, planner: 'given' }, 'retry'],
  ['a model, first time: adapt', {}, 'adapt'],
  ['a model, second time: adapt', { occurrences_since_progress: 2 }, 'adapt'],
  ['a model, third time without progress: ask', { occurrences_since_progress: 3 }, 'ask_human'],
  ['a model with escalate_at 1: ask at once', { escalate_at: 1 }, 'ask_human'],
  ['a given plan asks at once, whatever the count', { planner: 'given' }, 'ask_human'],
  ['a missing pointer ends the run', { kind: 'pointer_unresolved' }, 'system_error'],
  ['a missing pointer ends a given plan too', { kind: 'pointer_unresolved', planner: 'given' }, 'system_error'],
  ['a missing pointer by category', { kind: undefined, category: 'pointer_unresolved' }, 'system_error'],
  ['repair exhausted ends the run', { kind: 'repair_exhausted' }, 'system_error'],
  [
    'a contract violation without retries left is repair exhausted',
    { kind: 'schema_violation', category: 'contract_violation' },
    'system_error',
  ],
  [
    'a contract violation with retries left is repaired',
    { kind: 'schema_violation', category: 'contract_violation', exhausted: false },
    'retry',
  ],
  ['bad arguments go back to the model', { kind: 'schema_violation', category: 'invalid_input' }, 'adapt'],
  ['an unknown side effect asks at once', { effect: 'side_effect', certainty: 'unknown' }, 'ask_human'],
  [
    'an unknown side effect asks even with retries left',
    { effect: 'side_effect', certainty: 'unknown', exhausted: false },
    'ask_human',
  ],
  ['an unknown side effect by its kind', { kind: 'side_effect_unknown', exhausted: false }, 'ask_human'],
  ['an unknown read is retried', { effect: 'read', certainty: 'unknown', exhausted: false }, 'retry'],
  ['an unknown idempotent call is retried', { effect: 'idempotent', certainty: 'unknown', exhausted: false }, 'retry'],
  [
    'a side effect that surely failed is retried',
    { effect: 'side_effect', certainty: 'failed', exhausted: false },
    'retry',
  ],
  [
    'a side effect that is done goes back to the model, and is not repaired',
    { effect: 'side_effect', certainty: 'done', category: 'contract_violation', exhausted: false },
    'adapt',
  ],
  [
    'a side effect that is done asks where the plan has no other way',
    { effect: 'side_effect', certainty: 'done', kind: 'repair_exhausted', planner: 'given' },
    'ask_human',
  ],
  ['the first stall asks', { kind: 'repeated_call', stalls_of_fingerprint: 1 }, 'ask_human'],
  [
    'a second stall of the same fingerprint ends the run',
    { kind: 'repeated_call', stalls_of_fingerprint: 2 },
    'system_error',
  ],
  ['a soft limit stops nothing', { kind: 'soft_limit', planner: 'given' }, 'adapt'],
  ['a near limit stops nothing', { kind: 'near_limit', occurrences_since_progress: 9 }, 'adapt'],
  ['a correction stops nothing', { kind: 'correction', planner: 'given' }, 'adapt'],
];

describe('escalation', () => {
  it.each(TABLE)('%s', (_name, parts, action) => {
    const escalation = escalate(failure(parts));
    expect(escalation.action).toBe(action);
    expect(escalation.why).toMatch(/^[a-z].{10,120}[^.]$/);
  });

  it('every row of the escalation table decides some failure', () => {
    const deciding = TABLE.map(([, parts]) => ESCALATION_TABLE.find((row) => row.holds(failure(parts)))?.name);
    expect(new Set(deciding)).toEqual(new Set([...ESCALATION_TABLE.map((row) => row.name), undefined]));
  });

  it('a permanent failure never leads to a retry, and a given plan never adapts to one', () => {
    const failures = outcomeKindSchema.options
      .filter((kind) => !['soft_limit', 'near_limit', 'correction'].includes(kind))
      .flatMap((kind) => FAILURE_CATEGORIES.map((category) => failure({ kind, category })));
    for (const one of failures) {
      expect(escalate(one).action).not.toBe('retry');
      expect(escalate({ ...one, planner: 'given' }).action).toMatch(/ask_human|system_error/);
    }
  });
});

describe('escalation of what another system reports', () => {
  it.each([
    ['exception', 2, null],
    ['exception', 3, 'ask_human'],
    ['pointer_unresolved', 2, null],
    ['pointer_unresolved', 3, 'system_error'],
    ['repair_exhausted', 3, 'system_error'],
    ['repeated_call', 4, 'system_error'],
  ] as const)('%s, occurrence %i: %s', (kind, occurrences, expected) => {
    expect(escalateRepeats({ kind, occurrences, escalate_at: 3 })).toBe(expected);
  });
});
