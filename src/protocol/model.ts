import type { Json } from './json.ts';
import type { CallCancelled, CallFailed } from './tools.ts';

export interface ModelUsage {
  input_tokens: number;
  output_tokens: number;
  /** The part of `input_tokens` that the provider had in its cache. */
  cached_input_tokens?: number;
  /** The provider reported no usage, so it was estimated from the bytes, rather too high than too low. */
  estimated?: true;
}

/** Why a tool call that a model asked for is invalid, in words that the model gets to read. */
export interface ModelCallProblem {
  /** `UNREADABLE_ARGUMENTS`: the arguments are not a JSON object. */
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

/** A usable answer: text, tool calls, or JSON that fits the requested schema. */
export interface ModelAnswer {
  class: 'ok';
  text?: string;
  calls: ModelCall[];
  /** Provider state that has to be sent back unchanged with this answer. */
  state?: Json;
  /** Set if an output schema was given and the answer contains no tool calls. */
  output?: Json;
  finish: 'stop' | 'tool_calls' | 'other';
  usage: ModelUsage;
  model: string;
  /** How often the model was called, if more than once. */
  model_calls?: number;
  duration_ms: number;
}

/** `usage` is null if it is unknown how much was used (`certainty: unknown`). Then the reservation counts as used. */
export interface ModelFailed extends CallFailed {
  usage: ModelUsage | null;
  /** The model's text if it could not be used. It is shown to the model in the next attempt. */
  text?: string;
}

export type ModelOutcome = ModelAnswer | ModelFailed | CallCancelled;
