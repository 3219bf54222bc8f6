/** What a question says about a side effect whose outcome is unknown. */
import { expect, it } from 'vitest';
import { describeUnknownEffect } from '../../../../src/core/run/describe-unknown-effect.ts';
import type { CallFailed } from '../../../../src/protocol/tools.ts';

const failure: CallFailed = {
  class: 'failed',
  certainty: 'unknown',
  origin: 'tool',
  category: 'unknown_error',
  error_code: 'Error',
  message_preview: '',
  duration_ms: 1,
};

it.each<[Partial<CallFailed>, string]>([
  [{ message_preview: 'card declined' }, 'failed with: card declined; it is not known whether its effect happened'],
  [{ message_preview: 'try later. ' }, 'failed with: try later; it is not known whether its effect happened'],
  [
    { category: 'timeout', error_code: 'TIMEOUT', message_preview: 'pay gave no answer within 900 ms' },
    'failed with: pay gave no answer within 900 ms; it is not known whether its effect happened',
  ],
  [
    { category: 'timeout', error_code: 'HTTP_408', message_preview: 'charge queued, reference 88' },
    'failed with: charge queued, reference 88; it is not known whether its effect happened',
  ],
  [
    { category: 'worker_lost', error_code: 'HEARTBEAT_LOST', message_preview: 'the worker stopped answering' },
    'was started and gave no answer (HEARTBEAT_LOST); it is not known whether its effect happened',
  ],
  [{}, 'was started and gave no answer (Error); it is not known whether its effect happened'],
])('the failure %j is described as: %s', (given, text) => {
  expect(describeUnknownEffect({ ...failure, ...given })).toBe(text);
});
