/** How an activity that did not come back is told to the story: what it had reserved counts as used. */
import { ActivityFailure, CancelledFailure, RetryState, TimeoutFailure, TimeoutType } from '@temporalio/common';
import { describe, expect, it } from 'vitest';
import { classifyFailure } from '../../../src/workflows/outcomes.ts';

const ended = (cause: Error) =>
  classifyFailure(new ActivityFailure('', 'callModel', '1', RetryState.MAXIMUM_ATTEMPTS_REACHED, '', cause), 7);
const reserved = { tokens: 5_000, cost_micro_usd: 90 };

describe('a turn that nobody heard of again', () => {
  it.each([
    [TimeoutType.HEARTBEAT, 'HEARTBEAT_LOST'],
    [TimeoutType.START_TO_CLOSE, 'TIMEOUT'],
  ])('counts as having used what its last beat says it reserved (%s)', (type, error_code) => {
    expect(ended(new TimeoutFailure('late', { reserved }, type))).toMatchObject({
      class: 'failed',
      certainty: 'unknown',
      error_code,
      ...reserved,
    });
  });

  it.each([undefined, null, 'a word', { reserved: 'much' }, { reserved: { tokens: '5' } }])(
    'counts nothing where the beat does not say (%j)',
    (details) => {
      const outcome = ended(new TimeoutFailure('late', details, TimeoutType.HEARTBEAT));
      expect(outcome).toMatchObject({ error_code: 'HEARTBEAT_LOST' });
      expect(outcome).not.toHaveProperty('tokens');
    },
  );
});

it('a turn that was cancelled tells what it had reserved', () => {
  expect(ended(new CancelledFailure('stopped', [{ class: 'cancelled', duration_ms: 1, ...reserved }]))).toEqual({
    class: 'cancelled',
    ...reserved,
    duration_ms: 7,
  });
});
