/** The report of a workflow about its own execution when it ends. The worker creates a span from these values. */
export interface RunSpan {
  traceId: string;
  spanId: string;
  /** null if the start was not traced. Then this is the first span of its trace. */
  parentSpanId: string | null;
  sampled: boolean;
  agent: string | null;
  loopId: string | null;
  model: string | null;
  /** The run's outcome, or `handed_over` after a continue-as-new. */
  outcome: string | null;
  reason: string | null;
  /** The name of the error that ended the workflow, or null. */
  error: string | null;
}

// oxlint-disable-next-line typescript/consistent-type-definitions -- Temporal wants an index signature, which an interface lacks
export type RunSpanSink = { secondwindTrace: { ended(span: RunSpan): void } };
