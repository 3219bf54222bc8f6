import { compareDecimals, decimal, minus, toFixedHalfEven, toNumber } from '../guardrails/decimal.ts';
import type { Decimal } from '../guardrails/decimal.ts';
import { errorSignature } from './signature.ts';
import { firstCodePoints } from './unicode-text.ts';

export interface Reflection {
  error_type: string;
  error_signature: string;
  content: string;
  context: string;
  query: string;
  iteration: number;
  quality_delta: number;
}

export interface VerificationResult {
  status?: string | null;
  conflict_reason?: string | null;
  claim_text?: string | null;
}

export interface QualityEvaluation {
  critique?: string | null;
  verification_results?: readonly VerificationResult[] | null;
  query?: string | null;
  context?: string | null;
  iteration?: number | null;
  quality_before: number;
  quality_after: number;
}

/** A gain in quality has to be larger than this to become a lesson. */
const NOTABLE_GAIN = decimal(0.1);
const UNKNOWN = 'Unknown';
const CLAIM_CHARS = 100;
const CRITIQUE_CHARS = 200;
const PRAISED_CRITIQUE_CHARS = 150;

/**
 * Derives a lesson from an evaluation: the most serious finding, or a notable gain. Returns null if there is neither.
 */
export function reflectionFromEvaluation(evaluation: QualityEvaluation): Reflection | null {
  const gain = minus(decimal(evaluation.quality_after), decimal(evaluation.quality_before));
  const lesson = lessonOf(evaluation, gain);
  if (lesson === null) return null;
  return {
    error_type: lesson.error_type,
    error_signature: errorSignature(lesson.error_type, lesson.content),
    content: lesson.content,
    context: evaluation.context ?? '',
    query: evaluation.query ?? '',
    iteration: evaluation.iteration ?? 0,
    quality_delta: toNumber(gain),
  };
}

function lessonOf(evaluation: QualityEvaluation, gain: Decimal): Pick<Reflection, 'error_type' | 'content'> | null {
  const critique = evaluation.critique ?? '';
  const results = evaluation.verification_results ?? [];
  const conflict = results.find((result) => result.status === 'conflict');
  if (conflict !== undefined) {
    return { error_type: 'conflict', content: `Detected conflict: ${conflict.conflict_reason ?? UNKNOWN}` };
  }
  const unverified = results.find((result) => result.status === 'unverified');
  if (unverified !== undefined) {
    const claim = firstCodePoints(unverified.claim_text ?? UNKNOWN, CLAIM_CHARS);
    return { error_type: 'unverified_claim', content: `Made unverified claim about: ${claim}` };
  }
  if (critique.includes('CONFLICTS')) {
    return { error_type: 'factual_error', content: firstCodePoints(critique, CRITIQUE_CHARS) };
  }
  if (compareDecimals(gain, NOTABLE_GAIN) > 0) {
    const content = `Quality improved by ${toFixedHalfEven(gain, 2)}: ${firstCodePoints(critique, PRAISED_CRITIQUE_CHARS)}`;
    return { error_type: 'quality_improvement', content };
  }
  return null;
}
