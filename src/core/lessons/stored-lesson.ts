import type { Reflection } from './from-evaluation.ts';
import { firstCodePoints } from './unicode-text.ts';

/** A lesson as the store keeps it. */
export interface StoredLesson {
  category: 'reflection';
  content: string;
  rationale: string;
  tags: string[];
  context: {
    error_signature: string;
    original_query: string;
    iteration_count: number;
    quality_improvement: number;
    reflection_context: string;
  };
}

const RATIONALE_CHARS = 100;
const CONTEXT_CHARS = 200;

export function toStoredLesson(reflection: Reflection): StoredLesson {
  return {
    category: 'reflection',
    content: reflection.content,
    rationale: `Self-correction during: ${firstCodePoints(reflection.context, RATIONALE_CHARS)}`,
    tags: ['reflection', 'self-correction', reflection.error_type, signatureTag(reflection.error_signature)],
    context: {
      error_signature: reflection.error_signature,
      original_query: firstCodePoints(reflection.query, CONTEXT_CHARS),
      iteration_count: reflection.iteration,
      quality_improvement: reflection.quality_delta,
      reflection_context: firstCodePoints(reflection.context, CONTEXT_CHARS),
    },
  };
}

export const signatureTag = (errorSignature: string): string => `sig:${errorSignature}`;
