import type { Policy } from '../../protocol/schemas/policy.ts';
import { createSeenFeatures, type SeenFeatures } from '../stuck/seen-features.ts';
import type { VariedRule } from '../stuck/stuck-rules.ts';

export type LoopPolicy = Policy['loops'];
export type LoopRule = 'same_call_same_outcome' | 'same_call_failing' | 'same_message' | 'cycle' | VariedRule;

/** How many calls are answered with guidance after a stall was recorded, before it escalates. */
export const GUIDED_CALLS = 2;
export const SHORTEST_CYCLE = 2;
export const LONGEST_CYCLE = 4;

/**
 * A sequence of calls without progress. `start` and `end` are numbers of calls (of messages for `same_message`), from
 * 1.
 */
export interface Stall {
  rule: LoopRule;
  fingerprint: string;
  /**
   * The tool. For a cycle of several tools it is the first by name, so that it does not depend on where the cycle
   * began.
   */
  tool_name: string | null;
  start: number;
  end: number;
  /** How often the call or message was repeated; for a cycle, its rounds. */
  repeats: number;
}

export interface OpenStall extends Stall {
  identities: string[];
  /**
   * How many calls were answered with guidance instead of being run. For a stall with any input: how many calls ran
   * and showed the stall again.
   */
  guided: number;
  /** The calls of the stall differ, so it is about every call of its tool. */
  any_input?: true;
}

export interface SeenCall {
  identity: string;
  outcome: string;
  /** The last result. A failure in between does not change it. */
  result: string | null;
  probe: string | null;
  /** The stretch without progress that the counts belong to. */
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

/**
 * The history of one loop, as far as the rules need it. It has counters and short buffers, so it does not grow with the loop.
 * Plain JSON.
 */
export interface LoopWatch {
  /** Calls that ran or were answered with guidance. */
  calls: number;
  messages: number;
  /** Incremented by progress, so that older counts no longer apply. */
  stretch: number;
  seen_calls: SeenCall[];
  seen_results: string[];
  seen_messages: SeenMessage[];
  recent: { identity: string; tool_name: string; outcome: string }[];
  /** For each length of a cycle, how many calls in a row were equal to the call that many positions before. */
  equal_run: number[];
  under_way: Record<string, number>;
  stalls: OpenStall[];
  /** Absent in the state of a run that an older version has started. */
  seen_features?: SeenFeatures;
  /** What the latest call gave reason to suspect. The agent gets a hint, and nothing is held. */
  suspicion?: Suspicion;
}

export type Suspicion = Pick<Stall, 'rule' | 'tool_name' | 'repeats'>;

export const createLoopWatch = (): LoopWatch => ({
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
  seen_features: createSeenFeatures(),
});

/**
 * Resets every count and lifts every stall after a person has answered, so that the call may run. If it stalls again,
 * that is the second stall of its fingerprint.
 */
export const liftStalls = ({ suspicion: _dropped, ...state }: LoopWatch): LoopWatch => ({
  ...state,
  stretch: state.stretch + 1,
  stalls: [],
  equal_run: state.equal_run.map(() => 0),
  seen_features: createSeenFeatures(),
});
