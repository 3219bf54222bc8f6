import type { PreparedRun } from '../../protocol/run.ts';
import type { Grant } from '../../protocol/sub-runs.ts';
import { tightenPolicy } from '../policy/tighten.ts';
import { computeRunBound } from './compute-bound.ts';

/** Restricts a sub-run, and its limit, to the budget that it was granted. */
export function withinGrant(run: PreparedRun, grant: Grant | null): PreparedRun {
  if (grant === null) return run;
  const tight = { ...run, policy: tightenPolicy(run.policy, grant) };
  return { ...tight, bound: computeRunBound(tight) };
}
