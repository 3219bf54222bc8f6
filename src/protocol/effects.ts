/** A side effect that may have happened. While it is here, an identical call does not run. */
export interface UnknownEffect {
  /** The identity of the call: tool and input, as `callId` hashes them. */
  call: string;
  /** The idempotency key of the attempt. If a person says that it was not done, the next identical call uses it again. */
  key: string;
  /** The call in short, for planners and people. */
  told: string;
  /** What is known of it, and what people wrote about it: the answer to an identical call. */
  known: string;
  /** Until when the lost attempt may still act. The call does not run again before. */
  may_act_until?: number;
  /** The attempt did not stop after its timeout, and nobody knows until when it may act. */
  still_running?: true;
}

/** A side effect that is done. It answers an identical call in a later pass. */
export interface SharedEffect {
  call: string;
  /** The call in short, for a planner. Only the latest effects have it. */
  told?: string;
  /** Null if no output is known. */
  artifact_id: string | null;
  bytes: number;
  /** What is known of it, if the tool did not return it itself. */
  known?: string;
  /** Its output stays unknown, so it answers every identical call, also in the same pass. */
  closed?: true;
}

/** What a sub-run gets from the run that it works for. */
export interface InheritedEffects {
  /** The run that all the others work for. It is part of every idempotency key. */
  root_run_id: string;
  /** Keeps the keys of sub-runs apart that work beside other steps; empty if this sub-run is the only work under way. */
  lane: string;
  /** How many identical calls are known to be done, by call. */
  done: Record<string, number>;
  unknown: UnknownEffect[];
  /** How many identical calls earlier passes have done that can answer a call of this pass, by call. Absent in the first pass. */
  earlier?: Record<string, number>;
  /** The latest of those effects, with their outputs. */
  kept?: SharedEffect[];
  /** The highest fence that was handed out. */
  fence: number;
}

/** What a sub-run reports about effects when it ends: its own, and those of the runs that worked for it. */
export interface EffectsReport {
  done: Record<string, number>;
  /** Effects that became unknown, or unknown again, and inherited ones about which more is known. */
  unknown: UnknownEffect[];
  /** Keys of inherited unknown effects that a person has settled. */
  settled: string[];
  /** How many of the inherited effects of earlier passes have answered a call, by call. */
  answered?: Record<string, number>;
  /** The latest side effects that it has done. */
  kept?: SharedEffect[];
  fence: number;
}
