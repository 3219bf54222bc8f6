import { PROTOCOL_EXIT } from '../src/core/retry/exit-codes.ts';
import { seededRandom } from '../src/testing/simulator/seeded-random.ts';
import { ASSUMED, SEED } from './seed-figures.ts';

type Missing = 'grounding' | 'reasoning' | 'both';

/** The given conditions of one evaluation, the same in every arm. */
export interface Conditions {
  /** null if the first attempt succeeds. */
  missing: Missing | null;
  exit_code: number;
  never: boolean;
  /** One random number per retry, from 0 to 1. The retry succeeds if it is below its chance. */
  draws: number[];
}

const MENDED: Conditions = { missing: null, exit_code: PROTOCOL_EXIT.ok, never: false, draws: [] };
const MAX_RETRIES = 5;

/** Ten failures: three of each kind, and one whose check does not say what is missing. */
const KINDS: Pick<Conditions, 'missing' | 'exit_code'>[] = [
  ...Array.from({ length: 3 }, () => [
    { missing: 'grounding' as const, exit_code: PROTOCOL_EXIT.grounding },
    { missing: 'reasoning' as const, exit_code: PROTOCOL_EXIT.reasoning },
    { missing: 'both' as const, exit_code: PROTOCOL_EXIT.both },
  ]).flat(),
  { missing: 'both', exit_code: PROTOCOL_EXIT.unknown_validation },
];

/**
 * Draws exactly the reported share of failures. The seed number decides which evaluations fail and how their retries
 * go.
 */
export function drawConditions(evaluations: number, seed: number): Conditions[] {
  const random = seededRandom(seed);
  const failures = Math.round((evaluations * SEED.failed_first) / SEED.evaluations);
  const fates = Array.from({ length: evaluations }, (_, index): Conditions => {
    const kind = KINDS[index % KINDS.length];
    if (index >= failures || kind === undefined) return MENDED;
    const draws = Array.from({ length: MAX_RETRIES }, random);
    // Each group of ten uses another kind, so that no kind always fails.
    const turn = Math.floor(index / KINDS.length) % ASSUMED.never_in;
    return { ...kind, never: index % ASSUMED.never_in === turn, draws };
  });
  for (let last = fates.length - 1; last > 0; last -= 1) {
    const other = Math.floor(random() * (last + 1));
    const [one, two] = [fates[last], fates[other]];
    if (one !== undefined && two !== undefined) [fates[last], fates[other]] = [two, one];
  }
  return fates;
}

/** Tells what a prompt asks for. The prompt of a first attempt asks for neither. */
export const demandsOf = (prompt: string): { grounding: boolean; reasoning: boolean } => ({
  grounding: /\bsearch/i.test(prompt) && prompt.includes('[1]'),
  reasoning: /\breasoning\b/i.test(prompt) && /\bstep by step\b/i.test(prompt),
});

const namesWhatIsMissing = (prompt: string, missing: Missing): boolean => {
  const { grounding, reasoning } = demandsOf(prompt);
  return (missing === 'reasoning' || grounding) && (missing === 'grounding' || reasoning);
};

/** Reads the prompt and returns an exit code, as a command of the protocol does. */
export function answer(fate: Conditions, prompt: string, attempt: number): number {
  if (fate.missing === null) return PROTOCOL_EXIT.ok;
  if (attempt === 1 || fate.never) return fate.exit_code;
  const chance = namesWhatIsMissing(prompt, fate.missing) ? ASSUMED.mends_when_told : ASSUMED.mends_when_not_told;
  const draw = fate.draws[attempt - 2] ?? 1;
  return draw < chance ? PROTOCOL_EXIT.ok : fate.exit_code;
}
