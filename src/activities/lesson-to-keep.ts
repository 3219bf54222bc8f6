import { errorSignature } from '../core/lessons/signature.ts';
import { toStoredLesson } from '../core/lessons/stored-lesson.ts';
import type { LearntLesson } from '../protocol/lessons.ts';
import { CAP } from '../protocol/caps.ts';

/** Turns a lesson that a run learnt into the row that the store keeps. */
export function lessonToKeep(lesson: LearntLesson, { run_id, agent }: { run_id: string; agent: string }) {
  const content = lesson.content.slice(0, CAP.textChars);
  const error_signature = errorSignature(lesson.error_type, content);
  const { rationale, tags, context } = toStoredLesson({ ...lesson, content, error_signature });
  return {
    scope: lesson.scope,
    agent,
    error_type: lesson.error_type,
    error_signature,
    fingerprint: lesson.fingerprint,
    content,
    rationale,
    tags,
    tools: lesson.tools,
    context,
    run_id,
    occurrence_id: lesson.occurrence_id,
    similarity_threshold: lesson.similarity_threshold,
  };
}
