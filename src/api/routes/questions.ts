import { answerJson, page } from '../json-answer.ts';
import { z } from 'zod';
import { readQuery } from '../read-request.ts';
import type { Route } from '../route.ts';
import { cursor, limit } from '../schemas/shared-schemas.ts';

const questionsQuery = z.strictObject({
  open: z.enum(['', '1', 'true']).optional(),
  cursor: cursor.optional(),
  limit: limit.optional(),
});

export const questions: Route = {
  method: 'get',
  path: '/v1/questions',
  role: 'viewer',
  summary: 'The questions that wait for a person',
  query: questionsQuery,
  answer: { status: 200, description: 'The open questions of all runs', schema: 'Questions' },
  handle: async (c, { runs }) => {
    const { cursor: from, limit: size } = readQuery(c, questionsQuery);
    const found = await runs.questions({ ...(from && { cursor: from }), ...(size && { limit: size }) });
    return answerJson(c, { questions: found.questions, ...page(found.next_cursor) });
  },
};
