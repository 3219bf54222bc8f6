import type { Policy } from '../../protocol/schemas/policy.ts';
import { shareWithheld } from './assignment.ts';

export interface AssignedLesson {
  status: 'candidate' | 'proven' | 'quarantined';
  pinned: boolean;
  withheld: boolean;
}

/** Explains in one sentence why a run would see a lesson or not. */
export function explainLesson(
  { status, pinned, withheld }: AssignedLesson,
  { mode, memory }: Pick<Policy, 'mode' | 'memory'>,
): string {
  if (mode === 'observe') return 'In the mode `observe` a run sees no lessons.';
  if (pinned) return 'A person pinned it, so every run sees it.';
  if (status === 'quarantined') return 'Its trial showed that it harms, so no run sees it.';
  const share = shareWithheld({ status, phase: '' }, memory.holdout);
  const what = status === 'candidate' ? 'It is a candidate' : 'It is proven';
  if (share === 0) return `${what}, and \`memory.holdout\` is 0, so every run sees it.`;
  const from = `${Math.round(share * 100)} % of the runs do not see it, by a hash of run and lesson`;
  return withheld ? `${what}. ${from}, and this run is one of them.` : `${what}. ${from}; this run sees it.`;
}
