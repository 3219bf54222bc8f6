/** What a workflow tells of its own execution when it ends: plain values, for the worker to make a span of. */
export interface RunSpan {
  traceId: string;
  spanId: string;
  /** null: nobody traced the start, so that this is the first span of its trace. */
  parentSpanId: string | null;
  sampled: boolean;
  agent: string | null;
  loopId: string | null;
  model: string | null;
  /** A run's own outcome, or `handed_over` where a fresh execution goes on. */
  outcome: string | null;
  reason: string | null;
  /** The name of the error that ended the workflow; null when none did. */
  error: string | null;
}

// oxlint-disable-next-line typescript/consistent-type-definitions -- Temporal wants an index signature, which an interface lacks
export type RunSpanSink = { secondwindTrace: { ended(span: RunSpan): void } };
