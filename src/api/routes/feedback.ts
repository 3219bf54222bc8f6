import { defined } from '../../protocol/json.ts';
import { z } from 'zod';
import { FEEDBACK_TYPES } from '../../core/feedback/types.ts';
import { refinePrompt } from '../../core/feedback/refine.ts';
import { selectActions } from '../../core/feedback/actions.ts';
import { CAP } from '../../protocol/caps.ts';
import { runTask } from '../../threads/run-task.ts';
import { answerJson, page } from '../json-answer.ts';
import { readBody, readQuery } from '../read-request.ts';
import type { Route } from '../route.ts';
import { SCHEMAS } from '../schemas/all-schemas.ts';
import { cursor, limit, plainText } from '../schemas/shared-schemas.ts';

/** Enough for the whole output of a tool. Of longer texts only the start and the end would be scanned. */
const DETECT_BYTES = 8 * 1024 * 1024;
const REFINE_BYTES = 512 * 1024;

export const detect: Route = {
  method: 'post',
  path: '/v1/feedback/detect',
  role: 'viewer',
  summary: 'Detect what kind of failure a text reports, and what the next prompt should say',
  body: 'DetectRequest',
  answer: { status: 200, description: 'The type of failure, or null', schema: 'Detection' },
  handle: async (c) => {
    const { text } = await readBody(c, SCHEMAS.DetectRequest, DETECT_BYTES);
    const detection = await runTask('detectFeedback', text);
    const { feedback_type, confidence, matches } = detection;
    return answerJson(c, { feedback_type, confidence, matches, actions: selectActions(detection) });
  },
};

export const refine: Route = {
  method: 'post',
  path: '/v1/prompts/refine',
  role: 'viewer',
  summary: 'Refine a prompt with feedback. Every iteration is logged',
  body: 'RefineRequest',
  answer: { status: 200, description: 'The new prompt', schema: 'Refinement' },
  handle: async (c, { store }) => {
    const { prompt, feedback, max_refinement_iterations } = await readBody(c, SCHEMAS.RefineRequest, REFINE_BYTES);
    const refinement = refinePrompt(prompt, feedback, {
      timestamp: new Date().toISOString(),
      ...defined({ max_refinement_iterations }),
    });
    const redact = c.get('redact');
    await store.feedbackLog.append(
      refinement.iterations.map((entry) => ({
        ...entry,
        original_prompt: redact(entry.original_prompt),
        refined_prompt: redact(entry.refined_prompt),
        feedback_signal: redact(entry.feedback_signal),
        run_id: null,
      })),
    );
    return answerJson(c, refinement);
  },
};

const logQuery = z.strictObject({
  run_id: plainText(CAP.nameChars).optional(),
  feedback_type: z.enum(FEEDBACK_TYPES).optional(),
  cursor: cursor.optional(),
  limit: limit.optional(),
});

export const feedbackLog: Route = {
  method: 'get',
  path: '/v1/feedback/log',
  role: 'viewer',
  summary: 'The feedback that prompts were refined with, the latest first',
  query: logQuery,
  answer: { status: 200, description: 'One page of entries', schema: 'FeedbackLog' },
  handle: async (c, { store }) => {
    const { run_id, feedback_type, cursor: from, limit: size } = readQuery(c, logQuery);
    const found = await store.feedbackLog.list({
      ...(run_id && { run_id }),
      ...(feedback_type && { feedback_type }),
      ...(from && { cursor: from }),
      ...(size && { limit: size }),
    });
    return answerJson(c, { log: found.items, ...page(found.next_cursor) });
  },
};

const effectivenessQuery = z.strictObject({ since: z.iso.datetime({ offset: true }).or(z.iso.date()).optional() });

export const feedbackEffectiveness: Route = {
  method: 'get',
  path: '/v1/feedback/effectiveness',
  role: 'viewer',
  summary: 'Which refinement actions were followed by success, with the number of times each was applied',
  query: effectivenessQuery,
  answer: { status: 200, description: 'The most frequent action first', schema: 'FeedbackEffectiveness' },
  handle: async (c, { store }) => {
    const { since } = readQuery(c, effectivenessQuery);
    const found = await store.feedbackLog.effectiveness(defined({ since }));
    return answerJson(c, { effectiveness: found.map((row) => ({ ...row, success_rate: row.succeeded / row.n })) });
  },
};
