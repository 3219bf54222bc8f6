/** The outcome of a lost activity: what a turn had reserved counts as used. */
import { ActivityFailure, CancelledFailure, RetryState, TimeoutFailure, TimeoutType } from '@temporalio/common';
import { describe, expect, it } from 'vitest';
import { classifyFailure } from '../../../src/workflows/outcomes.ts';

const ended = (cause: Error) =>
  classifyFailure(new ActivityFailure('', 'callModel', '1', RetryState.MAXIMUM_ATTEMPTS_REACHED, '', cause), 7);
const reserved = { tokens: 5_000, cost_micro_usd: 90 };

describe('a lost turn', () => {
  it.each([
    [TimeoutType.HEARTBEAT, 'HEARTBEAT_LOST'],
    [TimeoutType.START_TO_CLOSE, 'TIMEOUT'],
  ])('a turn that ends with the timeout %s is charged what its last heartbeat had reserved', (type, error_code) => {
    expect(ended(new TimeoutFailure('late', { reserved }, type))).toMatchObject({
      class: 'failed',
      certainty: 'unknown',
      error_code,
      ...reserved,
    });
  });

  it.each([undefined, null, 'a word', { reserved: 'much' }, { reserved: { tokens: '5' } }])(
    'a lost turn is charged nothing when its heartbeat details are %j',
    (details) => {
      const outcome = ended(new TimeoutFailure('late', details, TimeoutType.HEARTBEAT));
      expect(outcome).toMatchObject({ error_code: 'HEARTBEAT_LOST' });
      expect(outcome).not.toHaveProperty('tokens');
    },
  );
});

it('a cancelled turn reports what it had reserved', () => {
  expect(ended(new CancelledFailure('stopped', [{ class: 'cancelled', duration_ms: 1, ...reserved }]))).toEqual({
    class: 'cancelled',
    ...reserved,
    duration_ms: 7,
  });
});
