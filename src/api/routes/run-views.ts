import { defined } from '../../protocol/json.ts';
import { answerJson, page } from '../json-answer.ts';
import { z } from 'zod';
import { readQuery, readRunId } from '../read-request.ts';
import type { Route } from '../route.ts';
import { cursor, limit, wholeNumber } from '../schemas/shared-schemas.ts';

const view = { method: 'get', role: 'viewer', problems: ['run_not_found'] } as const;

export const runSteps: Route = {
  ...view,
  problems: [...view.problems],
  path: '/v1/runs/{run_id}/steps',
  summary: 'The steps of a run with all attempts, and redacted previews of inputs and outputs',
  answer: { status: 200, description: 'In step order', schema: 'Steps' },
  handle: async (c, { runs }) => answerJson(c, { steps: await runs.steps(readRunId(c)) }),
};

export const runRequest: Route = {
  ...view,
  problems: ['run_not_found', 'not_repeatable'],
  path: '/v1/runs/{run_id}/request',
  summary: 'What a run was started with: goal, plan and input, redacted, also when its history is gone',
  answer: { status: 200, description: 'The request', schema: 'GivenRequest' },
  handle: async (c, { inspector }) => answerJson(c, await inspector.request(readRunId(c))),
};

const transcriptQuery = z.strictObject({ cursor: cursor.optional(), limit: limit.optional() });

export const runTranscript: Route = {
  ...view,
  path: '/v1/runs/{run_id}/transcript',
  summary: 'The conversation of a run with its model as it was sent, redacted',
  query: transcriptQuery,
  answer: { status: 200, description: 'Oldest first', schema: 'Transcript' },
  problems: ['run_not_found', 'no_transcript', 'bad_cursor'],
  handle: async (c, { runs }) => {
    const runId = readRunId(c);
    const { cursor: from, limit: size } = readQuery(c, transcriptQuery);
    const asked = { ...(from && { cursor: from }), ...(size && { limit: size }) };
    const { transcript, next_cursor } = await runs.transcript(runId, asked);
    return answerJson(c, { transcript, ...page(next_cursor) });
  },
};

const promptsQuery = z.strictObject({
  request: wholeNumber(1, 999_999).optional().describe('Only this one and the one before it, with their messages'),
});

export const runPrompts: Route = {
  ...view,
  path: '/v1/runs/{run_id}/prompts',
  summary: 'The requests that a run sent to its model; with `request`, two of them with all messages',
  query: promptsQuery,
  answer: { status: 200, description: 'Oldest first', schema: 'Prompts' },
  problems: ['run_not_found', 'no_transcript'],
  handle: async (c, { runs }) => {
    const runId = readRunId(c);
    const { request } = readQuery(c, promptsQuery);
    return answerJson(c, { prompts: await runs.prompts(runId, defined({ request })) });
  },
};

export const runFailures: Route = {
  ...view,
  problems: [...view.problems],
  path: '/v1/runs/{run_id}/failures',
  summary: 'The failures of a run, with the current status of each',
  answer: { status: 200, description: 'Oldest first', schema: 'Failures' },
  handle: async (c, { runs }) => answerJson(c, { failures: await runs.failures(readRunId(c)) }),
};

export const runTrace: Route = {
  ...view,
  problems: [...view.problems],
  path: '/v1/runs/{run_id}/trace',
  summary: 'The passes of a run, with the reason why another followed or not',
  answer: { status: 200, description: 'Oldest first', schema: 'Trace' },
  handle: async (c, { runs }) => answerJson(c, { trace: await runs.trace(readRunId(c)) }),
};

export const runOverrides: Route = {
  ...view,
  problems: [...view.problems],
  path: '/v1/runs/{run_id}/overrides',
  summary: 'The overrides of a run: by whom, why and when, and which decision used each',
  answer: { status: 200, description: 'Oldest first', schema: 'Overrides' },
  handle: async (c, { runs }) => answerJson(c, { overrides: await runs.overrides(readRunId(c)) }),
};

const guidanceQuery = z.strictObject({
  step_id: wholeNumber(0, 999_999_999),
  attempt: wholeNumber(1, 999_999_999).optional(),
});

export const runGuidance: Route = {
  ...view,
  path: '/v1/runs/{run_id}/guidance',
  summary: 'The exact guidance that an attempt was shown; by default the latest attempt that was shown any',
  query: guidanceQuery,
  answer: { status: 200, description: 'The text and its rows', schema: 'Guidance' },
  problems: ['run_not_found', 'no_guidance'],
  handle: async (c, { runs }) => {
    const runId = readRunId(c);
    const { step_id: stepId, attempt } = readQuery(c, guidanceQuery);
    return answerJson(c, await runs.guidance(runId, { stepId, ...defined({ attempt }) }));
  },
};
