import { answerJson } from '../json-answer.ts';
import { z } from 'zod';
import { CANCEL_WAIT_MS } from '../../client/secondwind-client.ts';
import { IDEMPOTENCY_KEY, idempotencyKey, once, readMessage, readQuery, readRunId } from '../read-request.ts';
import type { Route } from '../route.ts';
import { wholeNumber } from '../schemas/shared-schemas.ts';

const message = { method: 'post', role: 'operator' } as const;

export const overrideRun: Route = {
  ...message,
  path: '/v1/runs/{run_id}/override',
  summary: 'Allow one more pass where the guardrails would end the run',
  body: 'OverrideRequest',
  answer: {
    status: 200,
    description: 'The override waits for its limit, or one was waiting already',
    schema: 'OverrideAnswer',
  },
  problems: ['run_not_found', 'run_ended', 'limit_reached'],
  handle: async (c, { runs }) => {
    const runId = readRunId(c);
    return answerJson(c, await runs.override(runId, await readMessage(c, 'override')));
  },
};

export const answerRun: Route = {
  ...message,
  path: '/v1/runs/{run_id}/answer',
  summary: 'Answer the question of a run',
  body: 'AnswerRequest',
  answer: { status: 200, description: 'Whether the answer was accepted, or why not', schema: 'AnswerTaken' },
  problems: ['run_not_found'],
  handle: async (c, { runs }) => {
    const runId = readRunId(c);
    return answerJson(c, await runs.answer(runId, await readMessage(c, 'answer')));
  },
};

export const feedbackRun: Route = {
  ...message,
  path: '/v1/runs/{run_id}/feedback',
  summary: 'Send feedback to a run',
  body: 'FeedbackRequest',
  answer: { status: 200, description: 'How the feedback was classified', schema: 'FeedbackTaken' },
  problems: ['run_not_found', 'run_ended', 'limit_reached'],
  handle: async (c, { runs }) => {
    const runId = readRunId(c);
    return answerJson(c, await runs.feedback(runId, await readMessage(c, 'feedback')));
  },
};

const cancelQuery = z.strictObject({ wait_ms: wholeNumber(0, CANCEL_WAIT_MS).optional() });

export const cancelRun: Route = {
  ...message,
  path: '/v1/runs/{run_id}/cancel',
  summary: 'Cancel a run and wait until its work has stopped, at most wait_ms (default 30 s)',
  query: cancelQuery,
  body: 'PersonRequest',
  answer: { status: 200, description: 'The run has stopped; its final status', schema: 'RunStatus' },
  moreAnswers: [
    { status: 202, description: 'The run is stopping; the attempts that are still running', schema: 'Stopping' },
  ],
  problems: ['run_not_found', 'run_ended'],
  deadlineMs: CANCEL_WAIT_MS + 10_000,
  handle: async (c, { runs }) => {
    const runId = readRunId(c);
    const { wait_ms: waitMs = CANCEL_WAIT_MS } = readQuery(c, cancelQuery);
    const stopped = await runs.cancel(runId, await readMessage(c, 'cancel_run'), { waitMs });
    return stopped.state === 'ended' ? answerJson(c, stopped.status) : answerJson(c, stopped, 202);
  },
};

export const rerunRun: Route = {
  ...message,
  path: '/v1/runs/{run_id}/rerun',
  summary: 'Start a new run with the same agent, goal, input, plan, policy and labels',
  body: 'PersonRequest',
  headers: [IDEMPOTENCY_KEY],
  answer: { status: 201, description: 'The new run has started', schema: 'StartedRun' },
  problems: ['run_not_found', 'not_repeatable', 'idempotency_conflict'],
  handle: async (c, { runs }) => {
    const runId = readRunId(c);
    const key = idempotencyKey(c);
    // The body has the same fields as a cancel: who asks, and why.
    const person = await readMessage(c, 'cancel_run');
    const started = await once(key, () => runs.rerun(runId, person, key === undefined ? {} : { idempotencyKey: key }));
    return answerJson(c, started, 201, { location: `/v1/runs/${started.run_id}` });
  },
};
