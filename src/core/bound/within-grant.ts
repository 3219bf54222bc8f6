import type { PreparedRun } from '../../protocol/run.ts';
import type { Grant } from '../../protocol/sub-runs.ts';
import { tightened } from '../policy/tighten.ts';
import { boundOfRun } from './compute-bound.ts';

/** A run that works for another is held to what it was granted, and so is its bound. */
export function withinGrant(run: PreparedRun, grant: Grant | null): PreparedRun {
  if (grant === null) return run;
  const tight = { ...run, policy: tightened(run.policy, grant) };
  return { ...tight, bound: boundOfRun(tight) };
}
