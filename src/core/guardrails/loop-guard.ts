import type { BiasCounts } from './bias-echo.ts';
import type { GuardPolicy, GuardState } from './guard-state.ts';
import type { OverrideEntry } from './overrides.ts';
import type { ReasonedTraceItem } from './loop-trace.ts';
import type { PolicyPatch } from '../../protocol/schemas/policy.ts';

/** What `loopGuard` is started with; what is left out is the default policy's. Fixed for the family's whole life. */
export interface LoopGuardInput {
  policy?: Pick<PolicyPatch, keyof GuardPolicy>;
  max_reruns?: number;
}

/** What a door knows beyond the report's body: the second, optional argument of `loop_complete`. */
export interface ReportExtras {
  /** Hash of the body as its sender wrote it, before a review was added or a secret taken out. */
  body_hash?: string;
  /** Counts of the report's tags in all other families, for a policy whose bias scope is `global`. */
  bias_elsewhere?: BiasCounts;
}

/** A signal that could not be acted upon. */
export interface IgnoredSignal {
  name: string;
  reason: string;
  at: string;
}

/** What a guard leaves behind: its workflow's result, and its row in the store. */
export interface GuardEnding {
  version: 1;
  /** Null when the guard was cancelled before any loop was reported. */
  state: GuardState | null;
  ignored: IgnoredSignal[];
}

export interface GuardArchive {
  family: string;
  ending: GuardEnding;
  started_at: string;
  ended_at: string;
}

/** What the query `trace` answers. */
export interface GuardTrace {
  trace: ReasonedTraceItem[];
  overrides: OverrideEntry[];
}
