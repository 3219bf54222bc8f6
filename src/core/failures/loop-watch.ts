import type { Policy } from '../../protocol/schemas/policy.ts';

export type LoopPolicy = Policy['loops'];
export type LoopRule = 'same_call_same_outcome' | 'same_call_failing' | 'same_message' | 'cycle';

/** Calls answered with guidance instead of running, after a stall was recorded and before it escalates. */
export const GUIDED_CALLS = 2;
export const SHORTEST_CYCLE = 2;
export const LONGEST_CYCLE = 4;

/** A stretch without progress. `start` and `end` are numbers of calls (of messages for `same_message`), from 1. */
export interface Stall {
  rule: LoopRule;
  fingerprint: string;
  /** The tool; of several in a cycle the first by name, so that it does not depend on where the cycle was entered. */
  tool_name: string | null;
  start: number;
  end: number;
  /** How often the call or message came; of a cycle its rounds. */
  repeats: number;
}

export interface OpenStall extends Stall {
  identities: string[];
  guided: number;
}

export interface SeenCall {
  identity: string;
  outcome: string;
  /** The last result, as far as there was one: a failure in between is no change of it. */
  result: string | null;
  probe: string | null;
  /** Which stretch without progress the counts belong to. */
  stretch: number;
  same: number;
  same_since: number;
  fails: number;
  fails_since: number;
}

export interface SeenMessage {
  identity: string;
  stretch: number;
  count: number;
  since: number;
}

/** What the rules need of one loop so far: counters and short rings, so it never grows with the loop. Plain JSON. */
export interface LoopWatch {
  /** Calls that ran or were answered with guidance. */
  calls: number;
  messages: number;
  /** Raised by progress: counts of an earlier stretch no longer count. */
  stretch: number;
  seen_calls: SeenCall[];
  seen_results: string[];
  seen_messages: SeenMessage[];
  recent: { identity: string; tool_name: string; outcome: string }[];
  /** For each length of a cycle, how many calls in a row equalled the call that many before. */
  equal_run: number[];
  under_way: Record<string, number>;
  stalls: OpenStall[];
}

export const openLoopWatch = (): LoopWatch => ({
  calls: 0,
  messages: 0,
  stretch: 0,
  seen_calls: [],
  seen_results: [],
  seen_messages: [],
  recent: [],
  equal_run: Array.from({ length: LONGEST_CYCLE - SHORTEST_CYCLE + 1 }, () => 0),
  under_way: {},
  stalls: [],
});

/**
 * Something moved from outside the calls: a person answered. Every count starts again and every stall is lifted, so the
 * call may run; if it stalls once more, it is the second stall of its fingerprint.
 */
export const liftStalls = (state: LoopWatch): LoopWatch => ({
  ...state,
  stretch: state.stretch + 1,
  stalls: [],
  equal_run: state.equal_run.map(() => 0),
});
