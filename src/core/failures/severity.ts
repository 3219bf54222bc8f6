import type { FailureCategory } from '../../protocol/failure-categories.ts';
import type { OutcomeKind, Severity, SignalType } from '../../protocol/schemas/failure-record.ts';

/** Severity of some kinds and categories, whatever their signal is. */
const BY_KIND: Partial<Record<OutcomeKind, Severity>> = {
  pointer_unresolved: 'critical',
  repair_exhausted: 'critical',
  side_effect_unknown: 'high',
  near_limit: 'high',
  soft_limit: 'low',
};
const BY_CATEGORY: Partial<Record<FailureCategory, Severity>> = {
  pointer_unresolved: 'critical',
  auth: 'high',
  quota: 'high',
};
const BY_SIGNAL: Record<SignalType, Severity> = {
  tool_error: 'medium',
  retrieval_failure: 'low',
  contract_violation: 'medium',
  loop_stall: 'high',
  human_correction: 'medium',
  budget_pressure: 'low',
};

export interface SeverityInput {
  signal_type: SignalType;
  kind: OutcomeKind;
  category?: FailureCategory | undefined;
}

export const defaultSeverity = ({ signal_type, kind, category }: SeverityInput): Severity =>
  BY_KIND[kind] ?? (category && BY_CATEGORY[category]) ?? BY_SIGNAL[signal_type];

const RANK: Record<Severity, number> = { low: 0, medium: 1, high: 2, critical: 3 };
export const severityRank = (severity: Severity): number => RANK[severity];
