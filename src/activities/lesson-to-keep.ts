import { errorSignature } from '../core/lessons/signature.ts';
import { toStoredLesson } from '../core/lessons/stored-lesson.ts';
import { claimOf, tellLesson, withoutOutputs } from '../core/lessons/tell-lesson.ts';
import { defined } from '../protocol/json.ts';
import type { LearntLesson, LessonRemedy } from '../protocol/lessons.ts';
import { CAP } from '../protocol/caps.ts';
import type { ActivityStore, LessonToKeep } from './store-port.ts';

/** The run that learnt a lesson. */
export interface LearningRun {
  run_id: string;
  agent: string;
  tenant: string | null;
}

/** Turns a lesson that a run learnt into the row that the store keeps. Returns null if it has nothing to tell. */
export async function lessonToKeep(
  lesson: LearntLesson,
  run: LearningRun,
  store: Pick<ActivityStore, 'artifacts' | 'reflections'>,
): Promise<LessonToKeep | null> {
  const told = lesson.remedy === undefined ? lesson.content : await tellWithStore(lesson, lesson.remedy, run, store);
  if (told === null) return null;
  const content = told.slice(0, CAP.textChars);
  const error_signature = errorSignature(lesson.error_type, content);
  const { rationale, tags, context } = toStoredLesson({ ...lesson, content, error_signature });
  return {
    scope: lesson.scope,
    agent: run.agent,
    tenant: run.tenant,
    error_type: lesson.error_type,
    error_signature,
    fingerprint: lesson.fingerprint,
    ...defined({ error_text: lesson.error_text, error_code: lesson.error_code }),
    content,
    rationale,
    tags,
    tools: lesson.tools,
    ...defined({ tool_schemas: lesson.tool_schemas }),
    context,
    run_id: run.run_id,
    occurrence_id: lesson.occurrence_id,
    similarity_threshold: lesson.similarity_threshold,
  };
}

/** Only the store has the outputs that left the run's state, and only it knows which values other runs had. */
async function tellWithStore(
  { scope, fingerprint }: LearntLesson,
  learnt: LessonRemedy,
  { run_id, agent, tenant }: LearningRun,
  { artifacts, reflections }: Pick<ActivityStore, 'artifacts' | 'reflections'>,
): Promise<string | null> {
  const remedy = withoutOutputs(learnt, await readTexts(artifacts, learnt.earlier_outputs));
  const claims = remedy.unexplained.map(claimOf);
  const agreed =
    claims.length === 0
      ? []
      : await reflections?.agreeOn({
          run: { scope, agent, tenant, run_id, goal_hash: learnt.goal_hash, input_hash: learnt.input_hash },
          fingerprint,
          claims,
        });
  return tellLesson(remedy, new Set(agreed));
}

async function readTexts(artifacts: ActivityStore['artifacts'], ids: readonly string[]): Promise<string[] | null> {
  if (ids.length === 0) return [];
  const found = await artifacts.getMany([...new Set(ids)]);
  return found.length < new Set(ids).size ? null : found.map(({ bytes }) => new TextDecoder().decode(bytes));
}
