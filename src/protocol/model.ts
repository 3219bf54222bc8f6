import type { Json } from './json.ts';
import type { CallCancelled, CallFailed } from './tools.ts';

export interface ModelUsage {
  input_tokens: number;
  output_tokens: number;
  /** The part of `input_tokens` that the provider had in its cache. */
  cached_input_tokens?: number;
  /** The provider told no numbers: counted from the bytes, rather too many than too few. */
  estimated?: true;
}

/** Why a call that a model asked for cannot be made, in words for the model. */
export interface ModelCallProblem {
  /** `UNREADABLE_ARGUMENTS`: no JSON object at all, so that nobody can tell what was meant. */
  error_code: 'UNKNOWN_TOOL' | 'INVALID_ARGUMENTS' | 'UNREADABLE_ARGUMENTS';
  message: string;
  paths: string[];
}

export interface ModelCall {
  call_id: string;
  tool: string;
  input: { [key: string]: Json };
  problem?: ModelCallProblem;
}

/** A usable answer: words, calls, or JSON that fits the schema that was asked for. */
export interface ModelAnswer {
  class: 'ok';
  text?: string;
  calls: ModelCall[];
  /** What the provider wants back with this answer, unchanged. */
  state?: Json;
  /** Only where an output schema was given and nothing is called. */
  output?: Json;
  finish: 'stop' | 'tool_calls' | 'other';
  usage: ModelUsage;
  model: string;
  /** How often it was asked, where that is not once. */
  model_calls?: number;
  duration_ms: number;
}

/** `usage` is null where nobody knows what was used (`certainty: unknown`): then the reservation stays. */
export interface ModelFailed extends CallFailed {
  usage: ModelUsage | null;
  /** What the model said, where it said something unusable: to be shown to it in a repair. */
  text?: string;
}

export type ModelOutcome = ModelAnswer | ModelFailed | CallCancelled;
