import { CAP } from '../../protocol/caps.ts';
import type { MessageBody } from '../../protocol/messages.ts';
import type { LoopReport } from './loop-report.ts';
import { refuse } from './refusal.ts';
import type { Refusal } from './refusal.ts';

/** The limits that a person may lift once. Bias echo is not one of them. */
export type LiftableLimit = 'max_reruns' | 'fatigue';

export type OverrideRequest = MessageBody<'override'>;
/** An override inside a report. It applies only to the decision about that loop. */
export type OverrideFlags = Pick<
  LoopReport,
  'override_fatigue' | 'override_max_reruns' | 'override_by' | 'override_reason'
>;

/**
 * `pending`: waits until its limit is reached; `spent`: let one loop start; `unused`: came with a report whose decision
 * did not need it; `already_pending` and `refused` (no override left): had no effect.
 */
export type OverrideOutcome = 'pending' | 'spent' | 'unused' | 'already_pending' | 'refused';

/** One override with who, why, when, and the decision that spent it. The ledger of these is the audit. */
export interface OverrideEntry {
  override_fatigue: boolean;
  override_max_reruns: boolean;
  override_by: string;
  override_reason: string | null;
  at: string;
  via: 'override' | 'loop_complete';
  outcome: OverrideOutcome;
  /** The limits it waits for: those of its flags for which nothing was pending. */
  waits_for: LiftableLimit[];
  /** The loop after whose review another loop started because of this override. */
  spent_by: string | null;
}

export interface OverrideLedger {
  max_overrides: number;
  entries: OverrideEntry[];
  /** Number of further `already_pending` calls. They are only counted, so that repeated calls cannot fill the state. */
  already_pending_left_out: number;
}

export const createLedger = (maxOverrides: number): OverrideLedger => ({
  max_overrides: maxOverrides,
  entries: [],
  already_pending_left_out: 0,
});

export const flaggedLimits = (request: OverrideFlags): LiftableLimit[] => [
  ...(request.override_max_reruns === true ? (['max_reruns'] as const) : []),
  ...(request.override_fatigue === true ? (['fatigue'] as const) : []),
];

export const findPending = (ledger: OverrideLedger, bound: LiftableLimit): OverrideEntry | undefined =>
  ledger.entries.find((entry) => entry.outcome === 'pending' && entry.waits_for.includes(bound));

/** How many overrides count against `max_overrides`: one per call, with one flag or two, pending or spent. */
export const countOverrides = (ledger: OverrideLedger): number =>
  ledger.entries.filter((entry) => entry.outcome === 'pending' || entry.outcome === 'spent').length;

export interface AcceptedOverride {
  ok: true;
  ledger: OverrideLedger;
  status: 'success' | 'already_pending';
  /** Limits of this call that already had an override pending. */
  alreadyPending: LiftableLimit[];
}

/** Adds an override. Only one per limit can be pending; a second one is kept in the audit and has no effect. */
export function addOverride(ledger: OverrideLedger, request: OverrideRequest, at: string): AcceptedOverride | Refusal {
  const bounds = flaggedLimits(request);
  const alreadyPending = bounds.filter((bound) => findPending(ledger, bound) !== undefined);
  const waitsFor = bounds.filter((bound) => !alreadyPending.includes(bound));
  if (waitsFor.length === 0) {
    const entry = buildEntry(request, at, 'override', 'already_pending', []);
    return { ok: true, ledger: noteAlreadyPending(ledger, entry), status: 'already_pending', alreadyPending };
  }
  if (countOverrides(ledger) >= ledger.max_overrides) {
    return refuse(
      'max_overrides',
      `All ${ledger.max_overrides} overrides that the policy allows (humans.max_overrides) are taken.`,
    );
  }
  const entries = [...ledger.entries, buildEntry(request, at, 'override', 'pending', waitsFor)];
  return { ok: true, ledger: { ...ledger, entries }, status: 'success', alreadyPending };
}

function noteAlreadyPending(ledger: OverrideLedger, entry: OverrideEntry): OverrideLedger {
  const kept = ledger.entries.filter((earlier) => earlier.outcome === 'already_pending').length;
  return kept < CAP.ignoredMessages
    ? { ...ledger, entries: [...ledger.entries, entry] }
    : { ...ledger, already_pending_left_out: ledger.already_pending_left_out + 1 };
}

export function buildEntry(
  request: OverrideFlags,
  at: string,
  via: OverrideEntry['via'],
  outcome: OverrideOutcome,
  waitsFor: LiftableLimit[],
): OverrideEntry {
  return {
    override_fatigue: request.override_fatigue === true,
    override_max_reruns: request.override_max_reruns === true,
    override_by: request.override_by ?? '',
    override_reason: request.override_reason ?? null,
    at,
    via,
    outcome,
    waits_for: waitsFor,
    spent_by: null,
  };
}
