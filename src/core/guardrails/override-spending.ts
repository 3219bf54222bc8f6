import { buildEntry, flaggedLimits, countOverrides, findPending } from './overrides.ts';
import type { LiftableLimit, OverrideEntry, OverrideFlags, OverrideLedger } from './overrides.ts';

/** Which overrides would lift which limits at one decision. They are spent only if the decision is a rerun. */
export interface Coverage {
  covered: LiftableLimit[];
  /** True if flags in the report itself lift a limit. */
  byFlags: boolean;
  byPending: OverrideEntry[];
}

/**
 * Finds overrides for `blocking`, the limits that would end the run now. Flags in the report are used first, because
 * they apply to this decision only. They count against `max_overrides` too, otherwise a caller that always sends them
 * would never end.
 */
export function coverLimits(
  ledger: OverrideLedger,
  blocking: readonly LiftableLimit[],
  flags: OverrideFlags,
): Coverage {
  const flagged = countOverrides(ledger) < ledger.max_overrides ? flaggedLimits(flags) : [];
  const coverage: Coverage = { covered: [], byFlags: false, byPending: [] };
  for (const bound of blocking) {
    const pending = findPending(ledger, bound);
    if (flagged.includes(bound)) coverage.byFlags = true;
    else if (pending === undefined) continue;
    else if (!coverage.byPending.includes(pending)) coverage.byPending.push(pending);
    coverage.covered.push(bound);
  }
  return coverage;
}

export const coveredBy = (coverage: Coverage, flags: OverrideFlags): string | null => {
  const names = coverage.byPending.map((entry) => entry.override_by);
  if (coverage.byFlags && typeof flags.override_by === 'string') names.unshift(flags.override_by);
  return names.length === 0 ? null : [...new Set(names)].join(', ');
};

/**
 * The ledger after the decision. A rerun spends an override as a whole, with both flags. If another guard ended the run
 * anyway, the override is not spent.
 */
export function settleOverrides(
  ledger: OverrideLedger,
  coverage: Coverage,
  decision: { rerun: boolean; loopId: string; blocking: readonly LiftableLimit[]; at: string },
  flags: OverrideFlags,
): OverrideLedger {
  const spent = { outcome: 'spent', waits_for: [], spent_by: decision.loopId } satisfies Partial<OverrideEntry>;
  const entries = ledger.entries.map((entry) =>
    decision.rerun && coverage.byPending.includes(entry) ? { ...entry, ...spent } : entry,
  );
  const flagged = flaggedLimits(flags);
  if (flagged.length === 0) return { ...ledger, entries };
  const noneLeft = countOverrides(ledger) >= ledger.max_overrides;
  const inTheWay = flagged.some((bound) => decision.blocking.includes(bound) && !coverage.covered.includes(bound));
  const note = buildEntry(flags, decision.at, 'loop_complete', noneLeft && inTheWay ? 'refused' : 'unused', []);
  const settled = decision.rerun && coverage.byFlags ? { ...note, ...spent } : note;
  return { ...ledger, entries: [...entries, settled] };
}
