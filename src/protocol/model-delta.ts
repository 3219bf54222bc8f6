/** A piece of a model's turn while it is produced: text, or the arguments of a tool call. */
export type ModelDeltaPart =
  | { kind: 'text'; text: string }
  /** The first piece of a call may have an empty text; its arguments follow as pieces of JSON. */
  | { kind: 'tool_call'; call_id: string; tool: string; text: string };

/**
 * What a model has produced of a turn that is still under way. It is redacted, it may be incomplete, and it is not final: the
 * turn may fail and be tried again. It has no event id, and nothing of it is kept.
 */
export type ModelDelta = ModelDeltaPart & {
  event: 'model_delta';
  at: string;
  run_id: string;
  loop_id: string;
  turn: number;
  /** A higher attempt replaces what the attempts before it produced. */
  attempt: number;
  /** Counts the deltas of an attempt from 1. A gap means that some were lost. */
  seq: number;
  final: false;
};
