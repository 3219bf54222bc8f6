import type { EnhancementArm } from '../../protocol/lessons.ts';
import type { PreparedRun } from '../../protocol/run.ts';
import { fractionOf } from '../lessons/assignment.ts';

/** The sentence for the status of a run that is part of the baseline. */
export const HELD_OUT =
  'This run does not enhance the prompts of retries: it is part of the baseline that enhancement is compared with (`retry.enhance_holdout`).';

/**
 * Whether the retries of a run enhance prompts. Some runs do not, by a hash of their id, so that the others can be compared
 * with them.
 */
export function enhancementArm(run: AssignedRun): EnhancementArm {
  const { policy, memory } = run;
  if (!policy.retry.enhance || !memory.enhancement.on) return 'off';
  // An open run of an earlier release has no such setting.
  const holdout: number | undefined = policy.retry.enhance_holdout;
  return holdout !== undefined && fractionOfRun(run) < holdout ? 'baseline' : 'enhanced';
}

type AssignedRun = Pick<PreparedRun, 'run_id' | 'policy' | 'memory'>;

/** Every retry asks, and the id of a run never changes, so it is hashed once. */
const fractions = new WeakMap<AssignedRun, number>();

function fractionOfRun(run: AssignedRun): number {
  const known = fractions.get(run);
  if (known !== undefined) return known;
  const fraction = fractionOf(`enhance\n${run.run_id}`);
  fractions.set(run, fraction);
  return fraction;
}
