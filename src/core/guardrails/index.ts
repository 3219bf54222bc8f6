export { detectBiasEcho, countFlags, distinctTags } from './bias-echo.ts';
export type { BiasCounts, BiasEchoResult, BiasTag } from './bias-echo.ts';
export { compareDecimals, decimal, minus, plus, toFixedHalfEven, toNumber } from './decimal.ts';
export type { Decimal } from './decimal.ts';
export { decideAfterReview, rerunTriggers } from './decision.ts';
export type {
  ReviewDecision,
  FinalizeReason,
  GuardReason,
  JudgedLoop,
  RerunReasonCode,
  RerunTrigger,
} from './decision.ts';
export { applyOverride, canBeOverridden, listOverrides } from './family-overrides.ts';
export type { OverrideAnswer, Overridden } from './family-overrides.ts';
export { scoreFatigue } from './fatigue.ts';
export type { FatigueResult, Scores } from './fatigue.ts';
export { findEarlierAnswer, completeLoop } from './guard-family.ts';
export type { CompleteOptions, Completed } from './guard-family.ts';
export { beginReview, closeFamily, currentLoop, openFamily, originalLoopId, rerunCount } from './guard-state.ts';
export type { GuardPolicy, GuardState, LoopEntry, Opened, Review, LoopVerdict } from './guard-state.ts';
export { buildGuardrailsStatus } from './guardrails-status.ts';
export type { GuardrailsStatus } from './guardrails-status.ts';
export { buildLoopAnswer } from './loop-answer.ts';
export type { AnsweredLoop, DecisionResult, LoopAnswer, ReflectionResult } from './loop-answer.ts';
export { familyOf, isRerunId, rerunDepth, rerunId } from './loop-ids.ts';
export { checkReport, checkReview } from './loop-report.ts';
export type { LoopReport, ReviewReport } from './loop-report.ts';
export { buildLoopTrace } from './loop-trace.ts';
export type { LoopStatus, LoopTraceItem, ReasonedTraceItem } from './loop-trace.ts';
export { countOverrides, findPending } from './overrides.ts';
export type { LiftableLimit, OverrideEntry, OverrideLedger, OverrideOutcome, OverrideRequest } from './overrides.ts';
export { describeRerun, explainRerun } from './reasoning.ts';
export type { RerunReasoning } from './reasoning.ts';
export type { GuardProblem, Refusal } from './refusal.ts';
export { checkRerunLimit } from './rerun-limit.ts';
export type { RerunLimitResult } from './rerun-limit.ts';
export { answerFromTrace, statusFromTrace } from './trace-views.ts';
