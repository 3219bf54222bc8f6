/** How a guarded step reads the failure of its activity or child workflow: category, certainty, code and retries. */
import {
  ActivityFailure,
  ApplicationFailure,
  ChildWorkflowFailure,
  RetryState,
  TimeoutFailure,
  TimeoutType,
} from '@temporalio/common';
import { describe, expect, it } from 'vitest';
import type { CallFailed, ToolEffect } from '../../../src/protocol/tools.ts';
import { classifyStepFailure } from '../../../src/workflows/guarded/classify-step-failure.ts';

type Thrown = Parameters<typeof ApplicationFailure.create>[0];

const inActivity = (cause: Error) =>
  new ActivityFailure('', 'charge', '1', RetryState.MAXIMUM_ATTEMPTS_REACHED, '', cause);
const inChild = (cause: Error) =>
  new ChildWorkflowFailure(undefined, { workflowId: 'w' }, 'child', RetryState.MAXIMUM_ATTEMPTS_REACHED, cause);
const classify = (error: Error, effect: ToolEffect = 'side_effect') =>
  classifyStepFailure(error, { effect, isStopped: false, durationMs: 7 }) as CallFailed;
const thrown = (given: Thrown, effect?: ToolEffect) =>
  classify(inActivity(ApplicationFailure.create({ message: 'no', ...given })), effect);

describe('an activity states the category of its failure', () => {
  it.each<[string, Thrown, string, string]>([
    ['a plain Error', { type: 'Error' }, 'unknown_error', 'Error'],
    ['an error class of its own', { type: 'CardDeclined' }, 'unknown_error', 'CardDeclined'],
    ['a type that is a category', { type: 'rate_limit' }, 'rate_limit', 'rate_limit'],
    ['the type HTTP_429', { type: 'HTTP_429' }, 'rate_limit', 'HTTP_429'],
    ['the type HTTP 503', { type: 'HTTP 503' }, 'server_error', 'HTTP_503'],
    ['the type 401', { type: '401' }, 'auth', 'HTTP_401'],
    ['the type RESOURCE_EXHAUSTED of gRPC', { type: 'RESOURCE_EXHAUSTED' }, 'rate_limit', 'RESOURCE_EXHAUSTED'],
    ['details with a category', { type: 'Error', details: [{ category: 'auth' }] }, 'auth', 'Error'],
    ['details with an HTTP status', { type: 'Error', details: [{ http_status: 402 }] }, 'quota', 'HTTP_402'],
    ['details with a status', { type: 'Error', details: [{ status: 422 }] }, 'invalid_input', 'HTTP_422'],
    ['details with a numeric code', { type: 'Error', details: [{ code: 503 }] }, 'server_error', 'HTTP_503'],
    ['details with a code of Node', { type: 'Error', details: [{ code: 'ECONNREFUSED' }] }, 'network', 'ECONNREFUSED'],
    [
      'details with a category and a code of its own',
      { type: 'Error', details: [{ category: 'quota', code: 'CARD_LIMIT', status: 500 }] },
      'quota',
      'CARD_LIMIT',
    ],
    [
      'a category that does not exist',
      { type: 'Error', details: [{ category: 'bad luck' }] },
      'unknown_error',
      'Error',
    ],
    ['a category of the infrastructure', { type: 'worker_lost' }, 'unknown_error', 'worker_lost'],
    ['details that are not an object', { type: 'Error', details: ['auth'] }, 'unknown_error', 'Error'],
    [
      'its own class NotFoundError',
      { type: 'NotFoundError', message: 'no such order' },
      'unknown_error',
      'NotFoundError',
    ],
  ])('%s', (_name, given, category, error_code) => {
    expect(thrown(given)).toMatchObject({ class: 'failed', origin: 'tool', category, error_code });
  });

  it('reads how long to wait from the details', () => {
    expect(thrown({ type: 'HTTP_429', details: [{ retry_after_ms: 2_500 }] })).toMatchObject({ retry_after_ms: 2_500 });
  });

  it('a nonRetryable failure is not retried, whatever its category allows', () => {
    expect(thrown({ type: 'rate_limit', nonRetryable: true })).toMatchObject({
      category: 'rate_limit',
      no_retry: true,
    });
    expect(thrown({ type: 'rate_limit' })).not.toHaveProperty('no_retry');
  });
});

describe('an activity states the certainty of its failure', () => {
  it.each<[ToolEffect, Thrown, string]>([
    ['side_effect', { type: 'Error' }, 'unknown'],
    ['side_effect', { type: 'HTTP_400' }, 'unknown'],
    ['side_effect', { type: 'auth' }, 'unknown'],
    ['side_effect', { type: 'Error', nonRetryable: true }, 'unknown'],
    ['side_effect', { type: 'Error', details: [{ code: 'ECONNREFUSED' }] }, 'unknown'],
    ['side_effect', { type: 'Error', details: [{ certainty: 'surely' }] }, 'unknown'],
    ['side_effect', { type: 'Error', details: [{ certainty: 'failed' }] }, 'failed'],
    ['side_effect', { type: 'Error', details: [{ certainty: 'not_started' }] }, 'not_started'],
    ['side_effect', { type: 'Error', details: [{ certainty: 'done' }] }, 'done'],
    ['side_effect', { type: 'HTTP_503', details: [{ certainty: 'failed' }] }, 'failed'],
    ['read', { type: 'Error' }, 'failed'],
    ['idempotent', { type: 'Error' }, 'failed'],
    ['idempotent', { type: 'Error', details: [{ certainty: 'unknown' }] }, 'unknown'],
    ['read', { type: 'Error', details: [{ certainty: 'done' }] }, 'failed'],
  ])('%s with %j is %s', (effect, given, certainty) => {
    expect(thrown(given, effect)).toMatchObject({ certainty });
  });

  const refused = ApplicationFailure.create({ message: 'no', details: [{ category: 'auth', certainty: 'failed' }] });

  it('the step itself and a child workflow may state it too', () => {
    expect(classify(refused)).toMatchObject({ category: 'auth', certainty: 'failed' });
    expect(classify(inChild(refused))).toMatchObject({ category: 'auth', certainty: 'failed' });
  });

  it('an activity of a child workflow cannot state it for what the child did before', () => {
    expect(classify(inChild(inActivity(refused)))).toMatchObject({ category: 'auth', certainty: 'unknown' });
  });

  it('a call that no worker took leaves it unknown, because the step may have called others before', () => {
    const nobody = new TimeoutFailure('late', undefined, TimeoutType.SCHEDULE_TO_START);
    expect(classify(inActivity(nobody))).toMatchObject({ error_code: 'NO_WORKER', certainty: 'unknown' });
  });
});
