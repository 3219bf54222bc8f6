import type { Evaluation } from '../src/core/retry/monitors.ts';
import { ENHANCEMENT_ON, nextSwitch } from '../src/core/retry/switch-off.ts';
import { COMMON } from './arms.ts';
import { drawConditions } from './provider.ts';
import { runEvaluation } from './run-evaluation.ts';
import { SEED } from './seed-figures.ts';

/** Calls whose prompt was enhanced take this many times as long, in the world in which enhancement is useless. */
const SLOWER = 15;
const AT_ONCE = 50;
/** What the store reads for the rule. */
const READ = 500;

/**
 * Runs evaluations with the default policy, one run each, and applies the rollback rule after each, as the store does. Returns
 * the number of the evaluation after which enhancement went off, or null if it stayed on.
 */
export async function findSwitchOff(
  evaluations: number,
  seed: number,
  world: 'as assumed' | 'useless and slow',
): Promise<number | null> {
  const isUseless = world === 'useless and slow';
  const fates = drawConditions(evaluations, seed).map((fate) => (isUseless ? { ...fate, never: true } : fate));
  const known: Evaluation[] = [];
  for (let first = 0; first < fates.length; first += AT_ONCE) {
    const lived = await Promise.all(
      fates.slice(first, first + AT_ONCE).map((fate, index) => {
        const id = `switch-${seed}-${first + index + 1}`;
        const subject = { id, model: 'scripted', document: id };
        return runEvaluation(subject, fate, COMMON, isUseless ? SLOWER * SEED.call_ms : SEED.call_ms);
      }),
    );
    for (const { evaluation } of lived) {
      known.push(evaluation);
      if (nextSwitch(ENHANCEMENT_ON, known.slice(-READ), '').enhancement === 'off') return known.length;
    }
  }
  return null;
}

/** The switch in several worlds: in how many seeds it stays on, and when it goes off if enhancement is useless and slow. */
export async function measureSwitch(evaluations: number, seeds: number) {
  let stays_on = 0;
  const off_after: (number | null)[] = [];
  for (let seed = 1; seed <= seeds; seed += 1) {
    if ((await findSwitchOff(evaluations, seed, 'as assumed')) === null) stays_on += 1;
    off_after.push(await findSwitchOff(SWITCH_LIMIT, seed, 'useless and slow'));
  }
  return { seeds, stays_on, off_after };
}

/** A useless and slow enhancement has to go off within this many evaluations. */
export const SWITCH_LIMIT = 50;
