export interface RerunLimitResult {
  rerun_count: number;
  max_reruns: number;
  limit_reached: boolean;
  force_finalize: boolean;
  overridden: boolean;
  overridden_by: string | null;
}

/**
 * Checks the limit of reruns. `rerunCount` is the number before this decision; `overrideBy` is null if nobody lifts the
 * limit.
 */
export function checkRerunLimit(rerunCount: number, maxReruns: number, overrideBy: string | null): RerunLimitResult {
  const limitReached = rerunCount >= maxReruns;
  const overridden = limitReached && overrideBy !== null;
  return {
    rerun_count: rerunCount,
    max_reruns: maxReruns,
    limit_reached: limitReached,
    force_finalize: limitReached && !overridden,
    overridden,
    overridden_by: overridden ? overrideBy : null,
  };
}
