import { z } from 'zod';
import { CAP } from '../../protocol/caps.ts';
import { defined } from '../../protocol/json.ts';
import { RunRequestError } from '../../protocol/errors.ts';
import { prepareRun } from '../../define/prepare-run.ts';
import { explainLesson } from '../../core/lessons/explain-lesson.ts';
import { tenantFor } from '../access.ts';
import { answerJson } from '../json-answer.ts';
import { Problem } from '../problem.ts';
import { readBody } from '../read-request.ts';
import type { Route } from '../route.ts';
import { SCHEMAS } from '../schemas/all-schemas.ts';
import { findSuperseded, shown } from './reflections.ts';

const reflectionId = z.string().regex(/^[1-9][0-9]{0,14}$/);

export const reflection: Route = {
  method: 'get',
  path: '/v1/reflections/{id}',
  role: 'viewer',
  summary: 'A lesson with its evidence: where it was learnt, its trial, its verdicts, and what people changed',
  params: { id: reflectionId },
  answer: { status: 200, description: 'The lesson', schema: 'ReflectionEvidence' },
  problems: ['reflection_not_found'],
  handle: async (c, { store, registry }) => {
    const id = reflectionId.safeParse(c.req.param('id'));
    const known = id.success ? await store.reflections.get(Number(id.data)) : null;
    const { tenant } = c.get('grant');
    if (known === null || (tenant !== undefined && known.tenant !== tenant))
      throw new Problem('reflection_not_found', 'There is no lesson with this id. Check the id.');
    const [superseded, trial, verdicts, revisions, occurrences, errors, runs] = await Promise.all([
      findSuperseded([known], { store, registry }),
      store.reflections.trialOf(known.id),
      store.reflections.verdictsOf(known.id),
      store.reflections.revisionsOf(known.id),
      store.reflections.occurrencesOf(known.id),
      store.reflections.errorsOf(known.id),
      store.reflections.runsOf(known.id),
    ]);
    return answerJson(c, {
      ...shown({ ...known, score: 0, reason: 'recent' }, superseded),
      retired: known.retired,
      tools: known.tools,
      fingerprint: known.fingerprint,
      created_at: known.created_at,
      last_seen_at: known.last_seen_at,
      succeeded_count: known.succeeded_count,
      failed_count: known.failed_count,
      trial,
      verdicts,
      revisions,
      occurrences,
      errors,
      runs,
    });
  },
};

export const previewReflections: Route = {
  method: 'post',
  path: '/v1/reflections/preview',
  role: 'viewer',
  summary: 'The lessons that a run would start with, which of them it would see, and why. Nothing is started',
  body: 'ReflectionPreviewRequest',
  answer: { status: 200, description: 'The lessons, the best first', schema: 'ReflectionPreview' },
  handle: async (c, { store, registry }) => {
    const asked = await readBody(c, SCHEMAS.ReflectionPreviewRequest, CAP.runInputBytes);
    const tenant = tenantFor(c.get('grant'), asked.tenant);
    const request = { goal: 'preview', ...asked, ...defined({ tenant }) };
    const outcome = prepareRun(request, registry, asked.run_id);
    if (!outcome.ok) throw new RunRequestError(outcome.problems);
    const { policy } = outcome.prepared;
    const lessons = await store.startMemory.lessonsFor(outcome.prepared);
    return answerJson(c, {
      run_id: asked.run_id,
      lessons: lessons.map(({ id, content, status, pinned, tools, withheld }) => ({
        id,
        content,
        tools,
        status,
        pinned,
        shown: !withheld && policy.mode !== 'observe',
        why: explainLesson({ status, pinned, withheld }, policy),
      })),
    });
  },
};
