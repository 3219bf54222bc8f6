import { LIMIT } from '../../protocol/limits.ts';
import { refuse } from './refusal.ts';
import type { InputError, Refusal } from './refusal.ts';

/** The bounds that a person may lift once. Bias echo is not one of them. */
export type Bound = 'max_reruns' | 'fatigue';

export interface OverrideRequest {
  override_fatigue?: boolean;
  override_max_reruns?: boolean;
  override_by?: string | null;
  override_reason?: string | null;
}

/**
 * `pending` waits for its bound; `spent` let one loop start; `unused` came with a report whose decision did not need it;
 * `already_pending` and `refused` (no override left) freed nothing.
 */
export type OverrideOutcome = 'pending' | 'spent' | 'unused' | 'already_pending' | 'refused';

/** Who, why, when, spent by which decision: the audit is the ledger itself. */
export interface OverrideEntry {
  override_fatigue: boolean;
  override_max_reruns: boolean;
  override_by: string;
  override_reason: string | null;
  at: string;
  via: 'override' | 'loop_complete';
  outcome: OverrideOutcome;
  /** The bounds it waits for: those of its flags that had nothing pending. */
  waits_for: Bound[];
  /** The loop after whose review it let another start. */
  spent_by: string | null;
}

export interface OverrideLedger {
  max_overrides: number;
  entries: OverrideEntry[];
  /** Further `already_pending` calls that the audit only counts, so that repeating one cannot fill the state. */
  already_pending_left_out: number;
}

export const newLedger = (maxOverrides: number): OverrideLedger => ({
  max_overrides: maxOverrides,
  entries: [],
  already_pending_left_out: 0,
});

export const flaggedBounds = (request: OverrideRequest): Bound[] => [
  ...(request.override_max_reruns === true ? (['max_reruns'] as const) : []),
  ...(request.override_fatigue === true ? (['fatigue'] as const) : []),
];

export const pendingFor = (ledger: OverrideLedger, bound: Bound): OverrideEntry | undefined =>
  ledger.entries.find((entry) => entry.outcome === 'pending' && entry.waits_for.includes(bound));

/** What counts against `max_overrides`: one per call, with one flag or two, pending or spent. */
export const overridesTaken = (ledger: OverrideLedger): number =>
  ledger.entries.filter((entry) => entry.outcome === 'pending' || entry.outcome === 'spent').length;

export function errorsOfOverride(body: unknown): InputError[] {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) return [{ path: '$', detail: 'an object' }];
  const request: Record<keyof OverrideRequest, unknown> = { ...NOTHING_REQUESTED, ...body };
  const { override_fatigue, override_max_reruns, override_by, override_reason } = request;
  const isText = (value: unknown, max: number) => typeof value === 'string' && value.length <= max;
  const errors: InputError[] = [];
  for (const [name, flag] of Object.entries({ override_fatigue, override_max_reruns })) {
    if (flag !== undefined && typeof flag !== 'boolean') errors.push({ path: `$.${name}`, detail: 'true or false' });
  }
  if (override_fatigue !== true && override_max_reruns !== true) {
    errors.push({ path: '$', detail: 'override_fatigue or override_max_reruns must be true' });
  }
  if (!isText(override_by, LIMIT.nameChars) || String(override_by).trim() === '') {
    errors.push({ path: '$.override_by', detail: 'required: say who overrides' });
  }
  if (override_reason !== undefined && override_reason !== null && !isText(override_reason, LIMIT.textChars)) {
    errors.push({ path: '$.override_reason', detail: `a text of at most ${LIMIT.textChars} characters` });
  }
  return errors;
}

const NOTHING_REQUESTED = {
  override_fatigue: undefined,
  override_max_reruns: undefined,
  override_by: undefined,
  override_reason: undefined,
};

export interface AcceptedOverride {
  ok: true;
  ledger: OverrideLedger;
  status: 'success' | 'already_pending';
  /** Flagged bounds that had an override pending before this call. */
  alreadyPending: Bound[];
}

/** One override per bound can be pending; a second is kept in the audit and frees nothing. */
export function takeOverride(ledger: OverrideLedger, request: OverrideRequest, at: string): AcceptedOverride | Refusal {
  const bounds = flaggedBounds(request);
  const alreadyPending = bounds.filter((bound) => pendingFor(ledger, bound) !== undefined);
  const waitsFor = bounds.filter((bound) => !alreadyPending.includes(bound));
  if (waitsFor.length === 0) {
    const entry = entryOf(request, at, 'override', 'already_pending', []);
    return { ok: true, ledger: noteAlreadyPending(ledger, entry), status: 'already_pending', alreadyPending };
  }
  if (overridesTaken(ledger) >= ledger.max_overrides) {
    return refuse(
      'max_overrides',
      `All ${ledger.max_overrides} overrides that the policy allows (humans.max_overrides) are taken.`,
    );
  }
  const entries = [...ledger.entries, entryOf(request, at, 'override', 'pending', waitsFor)];
  return { ok: true, ledger: { ...ledger, entries }, status: 'success', alreadyPending };
}

function noteAlreadyPending(ledger: OverrideLedger, entry: OverrideEntry): OverrideLedger {
  const kept = ledger.entries.filter((earlier) => earlier.outcome === 'already_pending').length;
  return kept < LIMIT.ignoredMessages
    ? { ...ledger, entries: [...ledger.entries, entry] }
    : { ...ledger, already_pending_left_out: ledger.already_pending_left_out + 1 };
}

export function entryOf(
  request: OverrideRequest,
  at: string,
  via: OverrideEntry['via'],
  outcome: OverrideOutcome,
  waitsFor: Bound[],
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
