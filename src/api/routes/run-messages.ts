import { answerJson } from '../answers.ts';
import { z } from 'zod';
import { CANCEL_WAIT_MS } from '../../client/secondwind-client.ts';
import { IDEMPOTENCY_KEY, idempotencyKey, once, readMessage, readQuery, runIdOf } from '../read-request.ts';
import type { Route } from '../route.ts';
import { wholeNumber } from '../schemas/parts.ts';

const message = { method: 'post', role: 'operator' } as const;

export const overrideRun: Route = {
  ...message,
  path: '/v1/runs/{run_id}/override',
  summary: 'Let one more pass start where a guard would end the run',
  body: 'OverrideRequest',
  answer: { status: 200, description: 'It waits for its bound, or one was waiting already', schema: 'OverrideAnswer' },
  problems: ['run_not_found', 'run_ended', 'limit_reached'],
  handle: async (c, { runs }) => {
    const runId = runIdOf(c);
    return answerJson(c, await runs.override(runId, await readMessage(c, 'override')));
  },
};

export const answerRun: Route = {
  ...message,
  path: '/v1/runs/{run_id}/answer',
  summary: 'Answer what a run asks',
  body: 'AnswerRequest',
  answer: { status: 200, description: 'Taken, or why it came too late', schema: 'AnswerTaken' },
  problems: ['run_not_found'],
  handle: async (c, { runs }) => {
    const runId = runIdOf(c);
    return answerJson(c, await runs.answer(runId, await readMessage(c, 'answer')));
  },
};

export const feedbackRun: Route = {
  ...message,
  path: '/v1/runs/{run_id}/feedback',
  summary: 'Tell a run what you think of it',
  body: 'FeedbackRequest',
  answer: { status: 200, description: 'How it was understood', schema: 'FeedbackTaken' },
  problems: ['run_not_found', 'run_ended', 'limit_reached'],
  handle: async (c, { runs }) => {
    const runId = runIdOf(c);
    return answerJson(c, await runs.feedback(runId, await readMessage(c, 'feedback')));
  },
};

const cancelQuery = z.strictObject({ wait_ms: wholeNumber(0, CANCEL_WAIT_MS).optional() });

export const cancelRun: Route = {
  ...message,
  path: '/v1/runs/{run_id}/cancel',
  summary: 'Cancel a run, and wait until its work has stopped: 30 s unless wait_ms is less',
  query: cancelQuery,
  body: 'PersonRequest',
  answer: { status: 200, description: 'It has stopped: its final status', schema: 'RunStatus' },
  moreAnswers: [{ status: 202, description: 'It is stopping; this is still under way', schema: 'Stopping' }],
  problems: ['run_not_found', 'run_ended'],
  deadlineMs: CANCEL_WAIT_MS + 10_000,
  handle: async (c, { runs }) => {
    const runId = runIdOf(c);
    const { wait_ms: waitMs = CANCEL_WAIT_MS } = readQuery(c, cancelQuery);
    const stopped = await runs.cancel(runId, await readMessage(c, 'cancel_run'), { waitMs });
    return stopped.state === 'ended' ? answerJson(c, stopped.status) : answerJson(c, stopped, 202);
  },
};

export const rerunRun: Route = {
  ...message,
  path: '/v1/runs/{run_id}/rerun',
  summary: 'Start a new run of the same: agent, goal, input, plan, policy and labels',
  body: 'PersonRequest',
  headers: [IDEMPOTENCY_KEY],
  answer: { status: 201, description: 'The new run has started', schema: 'StartedRun' },
  problems: ['run_not_found', 'not_repeatable', 'idempotency_conflict'],
  handle: async (c, { runs }) => {
    const runId = runIdOf(c);
    const key = idempotencyKey(c);
    // Who and why, as with a cancel.
    const person = await readMessage(c, 'cancel_run');
    const started = await once(key, () => runs.rerun(runId, person, key === undefined ? {} : { idempotencyKey: key }));
    return answerJson(c, started, 201, { location: `/v1/runs/${started.run_id}` });
  },
};
