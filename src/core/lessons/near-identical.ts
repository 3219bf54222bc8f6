import { similarityOfTrigrams, splitTrigrams } from './trigram.ts';

export interface KnownReflection {
  id: string;
  content: string;
  error_signature: string;
  created_at: string;
}

export interface Match<Known> {
  known: Known;
  /** 1 for an equal signature, else the similarity of the contents. */
  score: number;
  reason: 'signature' | 'similarity';
}

/** Similarities are in single precision, and a similarity of exactly the threshold counts. */
const ROUNDING = 1e-6;

/**
 * Finds the lesson that a new one repeats, if any: the best match, and of equal matches the oldest. The caller passes
 * lessons of the same error type and scope.
 */
export function findNearIdentical<Known extends KnownReflection>(
  reflection: { content: string; error_signature: string },
  known: readonly Known[],
  similarityThreshold: number,
): Match<Known> | null {
  const trigrams = splitTrigrams(reflection.content);
  const threshold = similarityThreshold - ROUNDING;
  let best: Match<Known> | null = null;
  for (const candidate of known) {
    const match = matchOf(candidate, reflection.error_signature, trigrams);
    if (match.reason === 'similarity' && match.score < threshold) continue;
    if (best === null || isBetter(match, best)) best = match;
  }
  return best;
}

function matchOf<Known extends KnownReflection>(
  candidate: Known,
  errorSignature: string,
  trigrams: ReadonlySet<string>,
): Match<Known> {
  return candidate.error_signature === errorSignature
    ? { known: candidate, score: 1, reason: 'signature' }
    : {
        known: candidate,
        score: similarityOfTrigrams(trigrams, splitTrigrams(candidate.content)),
        reason: 'similarity',
      };
}

/** An equal signature beats equal trigrams, because the same words in another order are not the same text. */
function isBetter(match: Match<KnownReflection>, best: Match<KnownReflection>): boolean {
  if (match.reason !== best.reason) return match.reason === 'signature';
  if (match.score !== best.score) return match.score > best.score;
  if (match.known.created_at !== best.known.created_at) return match.known.created_at < best.known.created_at;
  return match.known.id < best.known.id;
}
