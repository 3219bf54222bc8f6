import { entryOf, flaggedBounds, overridesTaken, pendingFor } from './overrides.ts';
import type { Bound, OverrideEntry, OverrideFlags, OverrideLedger } from './overrides.ts';

/** Who would lift which bound at one decision. Nothing is spent before that decision is a rerun. */
export interface Coverage {
  covered: Bound[];
  /** The flags of the report itself lift a bound. */
  byFlags: boolean;
  byPending: OverrideEntry[];
}

/**
 * `blocking` are the bounds that would end the run now. Flags inside the report come first, since they hold for this
 * decision alone; they too need one of `max_overrides`, or a caller that always sends them would never end.
 */
export function coverBounds(ledger: OverrideLedger, blocking: readonly Bound[], flags: OverrideFlags): Coverage {
  const flagged = overridesTaken(ledger) < ledger.max_overrides ? flaggedBounds(flags) : [];
  const coverage: Coverage = { covered: [], byFlags: false, byPending: [] };
  for (const bound of blocking) {
    const pending = pendingFor(ledger, bound);
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
 * The ledger after the decision. An override is one whole: the rerun it frees uses it up, both flags of it. Where another
 * guard ended the run all the same, it freed nothing and is not spent.
 */
export function settleOverrides(
  ledger: OverrideLedger,
  coverage: Coverage,
  decision: { rerun: boolean; loopId: string; blocking: readonly Bound[]; at: string },
  flags: OverrideFlags,
): OverrideLedger {
  const spent = { outcome: 'spent', waits_for: [], spent_by: decision.loopId } satisfies Partial<OverrideEntry>;
  const entries = ledger.entries.map((entry) =>
    decision.rerun && coverage.byPending.includes(entry) ? { ...entry, ...spent } : entry,
  );
  const flagged = flaggedBounds(flags);
  if (flagged.length === 0) return { ...ledger, entries };
  const noneLeft = overridesTaken(ledger) >= ledger.max_overrides;
  const inTheWay = flagged.some((bound) => decision.blocking.includes(bound) && !coverage.covered.includes(bound));
  const note = entryOf(flags, decision.at, 'loop_complete', noneLeft && inTheWay ? 'refused' : 'unused', []);
  const settled = decision.rerun && coverage.byFlags ? { ...note, ...spent } : note;
  return { ...ledger, entries: [...entries, settled] };
}
