import { sha256Hex } from '../protocol/ids.ts';

/** How a trace travels. Workflow code loads this file, so there is neither Node nor OpenTelemetry in it. */

/** The header that Temporal's own tracing uses in every language: traces join across programs that are not ours. */
export const TRACE_HEADER = '_tracer-data';

export interface TraceCarrier {
  /** As W3C writes it: version, trace, span, flags. */
  traceparent: string;
  /** Set by a workflow that nobody traced the start of: a workflow cannot ask the sampler, so the worker has to. */
  undecided?: '1';
}

export interface TraceParent {
  traceId: string;
  spanId: string;
  sampled: boolean;
}

const TRACEPARENT = /^[0-9a-f]{2}-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})$/;

/** null for whatever is not one: a trace that cannot be read must not trouble a run. */
export function readTraceParent(text: unknown): TraceParent | null {
  const [, traceId, spanId, flags] = (typeof text === 'string' && TRACEPARENT.exec(text)) || [];
  if (traceId === undefined || spanId === undefined || flags === undefined) return null;
  if (/^0+$/.test(traceId) || /^0+$/.test(spanId)) return null;
  return { traceId, spanId, sampled: (Number.parseInt(flags, 16) & 1) === 1 };
}

export const writeTraceParent = ({ traceId, spanId, sampled }: TraceParent): string =>
  `00-${traceId}-${spanId}-${sampled ? '01' : '00'}`;

/** Derived, because a workflow has no randomness to spare: drawing any would change what it decides next. */
export const traceIdOf = (firstExecutionRunId: string): string =>
  sha256Hex(`trace:${firstExecutionRunId}`).slice(0, 32);
export const spanIdOf = (runId: string): string => sha256Hex(`span:${runId}`).slice(0, 16);
