import { sha256Hex } from '../protocol/ids.ts';

/** How a trace travels between processes. Workflow code loads this file, so it uses neither Node nor OpenTelemetry. */

/** The header that Temporal's own tracing uses in every language, so that traces join across other programs. */
export const TRACE_HEADER = '_tracer-data';

export interface TraceCarrier {
  /** In the W3C format: version, trace, span, flags. */
  traceparent: string;
  /** Set by a workflow whose start was not traced. A workflow cannot ask the sampler, so the worker does. */
  undecided?: '1';
}

export interface TraceParent {
  traceId: string;
  spanId: string;
  sampled: boolean;
}

const TRACEPARENT = /^[0-9a-f]{2}-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})$/;

/** Parses a trace parent. Returns null if it is invalid, because an unreadable trace must not fail a run. */
export function readTraceParent(text: unknown): TraceParent | null {
  const [, traceId, spanId, flags] = (typeof text === 'string' && TRACEPARENT.exec(text)) || [];
  if (traceId === undefined || spanId === undefined || flags === undefined) return null;
  if (/^0+$/.test(traceId) || /^0+$/.test(spanId)) return null;
  return { traceId, spanId, sampled: (Number.parseInt(flags, 16) & 1) === 1 };
}

export const writeTraceParent = ({ traceId, spanId, sampled }: TraceParent): string =>
  `00-${traceId}-${spanId}-${sampled ? '01' : '00'}`;

/** Derived instead of random, because drawing random numbers in a workflow would change its later decisions. */
export const traceIdOf = (firstExecutionRunId: string): string =>
  sha256Hex(`trace:${firstExecutionRunId}`).slice(0, 32);
export const spanIdOf = (runId: string): string => sha256Hex(`span:${runId}`).slice(0, 16);
