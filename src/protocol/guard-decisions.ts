/**
 * What a guard decided about. `stall`: the agent repeats itself. `escalation`: the same failure or stall came back too often.
 * `guardrail`: a rule that ends a family of passes.
 */
export const DECISION_KINDS = ['stall', 'escalation', 'guardrail'] as const;
export type DecisionKind = (typeof DECISION_KINDS)[number];

/** What followed. With `observe` nothing did, because the mode of the run lets guards only watch. */
export const DECISION_ACTIONS = ['observe', 'guide', 'ask_human', 'system_error', 'finalize'] as const;
export type DecisionAction = (typeof DECISION_ACTIONS)[number];

/** One decision of a guard, as it is stored. It never changes; what people say about it is stored beside it. */
export interface GuardDecision {
  decision_id: string;
  /** The run; for passes that run elsewhere, their family. */
  run_id: string;
  kind: DecisionKind;
  /** The rule that held, such as `same_call_failing` or `max_reruns_reached`. */
  rule: string;
  action: DecisionAction;
  /** One sentence for people. */
  why: string;
  loop_id: string;
  /** Null for a decision about a whole pass. */
  step_id: number | null;
  fingerprint: string | null;
  at: string;
}

/** A person's word on a decision. The latest one counts. */
export interface DecisionVerdict {
  wrong: boolean;
  by: string;
  reason: string | null;
  at: string;
}

/** A decision in a list, with what people said about it last. */
export interface ListedDecision extends GuardDecision {
  /** Null for passes that run elsewhere. */
  agent: string | null;
  verdict: DecisionVerdict | null;
}
