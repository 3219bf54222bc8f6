import { answerJson } from '../answers.ts';
import { z } from 'zod';
import { readQuery, runIdOf } from '../read-request.ts';
import type { Route } from '../route.ts';
import { wholeNumber } from '../schemas/parts.ts';

const view = { method: 'get', role: 'viewer', problems: ['run_not_found'] } as const;

export const runSteps: Route = {
  ...view,
  problems: [...view.problems],
  path: '/v1/runs/{run_id}/steps',
  summary: 'The steps of a run with every attempt',
  answer: { status: 200, description: 'In step order', schema: 'Steps' },
  handle: async (c, { runs }) => answerJson(c, { steps: await runs.steps(runIdOf(c)) }),
};

export const runFailures: Route = {
  ...view,
  problems: [...view.problems],
  path: '/v1/runs/{run_id}/failures',
  summary: 'What went wrong in a run, and how each failure stands now',
  answer: { status: 200, description: 'Oldest first', schema: 'Failures' },
  handle: async (c, { runs }) => answerJson(c, { failures: await runs.failures(runIdOf(c)) }),
};

export const runTrace: Route = {
  ...view,
  problems: [...view.problems],
  path: '/v1/runs/{run_id}/trace',
  summary: 'The passes of a run, and why each was run again or was the last',
  answer: { status: 200, description: 'Oldest first', schema: 'Trace' },
  handle: async (c, { runs }) => answerJson(c, { trace: await runs.trace(runIdOf(c)) }),
};

export const runOverrides: Route = {
  ...view,
  problems: [...view.problems],
  path: '/v1/runs/{run_id}/overrides',
  summary: 'Who overrode, why and when, and which decision spent it',
  answer: { status: 200, description: 'Oldest first', schema: 'Overrides' },
  handle: async (c, { runs }) => answerJson(c, { overrides: await runs.overrides(runIdOf(c)) }),
};

const guidanceQuery = z.strictObject({
  step_id: wholeNumber(0, 999_999_999),
  attempt: wholeNumber(1, 999_999_999).optional(),
});

export const runGuidance: Route = {
  ...view,
  path: '/v1/runs/{run_id}/guidance',
  summary: 'What an attempt was shown, byte for byte; the latest that was shown anything unless one is named',
  query: guidanceQuery,
  answer: { status: 200, description: 'The text and its rows', schema: 'Guidance' },
  problems: ['run_not_found', 'no_guidance'],
  handle: async (c, { runs }) => {
    const runId = runIdOf(c);
    const { step_id: stepId, attempt } = readQuery(c, guidanceQuery);
    return answerJson(c, await runs.guidance(runId, { stepId, ...(attempt !== undefined && { attempt }) }));
  },
};
