import type { BiasCounts } from './bias-echo.ts';
import type { FamilyPolicy } from './guard-policy.ts';
import type { GuardPolicy, GuardState } from './guard-state.ts';
import type { OverrideEntry } from './overrides.ts';
import type { ReasonedTraceItem } from './loop-trace.ts';
import type { PolicyPatch } from '../../protocol/schemas/policy.ts';

/**
 * The input of `loopGuard`. Settings that are left out have their defaults. They are fixed for the life of the family.
 */
export interface LoopGuardInput {
  policy?: Pick<PolicyPatch, keyof GuardPolicy>;
  max_reruns?: number;
}

/** Optional second argument of `loop_complete`: what the API or client knows beyond the report's body. */
export interface ReportExtras {
  /** Hash of the body as it was sent, before a review was added or a secret redacted. */
  body_hash?: string;
  /** Counts of the report's tags in all other families, if the policy's bias scope is `global`. */
  bias_elsewhere?: BiasCounts;
}

/** A signal that was refused. */
export interface IgnoredSignal {
  name: string;
  reason: string;
  at: string;
}

/** The end of a guard: its workflow's result, and its row in the store. */
export interface GuardEnding {
  version: 1;
  /** Null if the guard was cancelled before any loop was reported. */
  state: GuardState | null;
  ignored: IgnoredSignal[];
  /** Absent in endings of older builds. */
  policy?: FamilyPolicy;
}

export interface GuardArchive {
  family: string;
  ending: GuardEnding;
  started_at: string;
  ended_at: string;
}

/** The answer of the query `trace`. */
export interface GuardTrace {
  trace: ReasonedTraceItem[];
  overrides: OverrideEntry[];
}
