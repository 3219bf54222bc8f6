import {
  type Context,
  context,
  ROOT_CONTEXT,
  type Span,
  SpanKind,
  type SpanOptions,
  SpanStatusCode,
  trace,
  TraceFlags,
  type Tracer,
} from '@opentelemetry/api';
import { type IdGenerator, RandomIdGenerator, type Sampler, SamplingDecision } from '@opentelemetry/sdk-trace';
import { defaultPayloadConverter, type Headers } from '@temporalio/common';
import { ERROR_TYPE } from './attributes.ts';
import {
  readTraceParent,
  TRACE_HEADER,
  type TraceCarrier,
  type TraceParent,
  writeTraceParent,
} from './trace-header.ts';

/** Generates random ids, except for the span of a workflow, whose id its activities already use as their parent. */
export class PresetIdGenerator implements IdGenerator {
  readonly #random = new RandomIdGenerator();
  #given: { traceId: string; spanId: string } | null = null;

  generateTraceId = (): string => this.#given?.traceId ?? this.#random.generateTraceId();
  generateSpanId = (): string => this.#given?.spanId ?? this.#random.generateSpanId();

  /** Starting a span is synchronous, so no other span can take the given id. */
  giving<T>(given: { traceId: string; spanId: string }, start: () => T): T {
    this.#given = given;
    try {
      return start();
    } finally {
      this.#given = null;
    }
  }
}

export interface Tracing {
  tracer: Tracer;
  ids: PresetIdGenerator;
  /** A context with a remote span as the parent. */
  contextBelow(parent: TraceParent): Context;
  /** A context with the parent that Temporal's headers name; without one, a new trace. */
  fromHeaders(headers: Headers): Context;
  withHeader(headers: Headers, span: Span): Headers;
  /** The current span, if any. */
  currentParent(): TraceParent | null;
  /** Runs work inside a span, which ends when the work ends or fails. */
  runInSpan<T>(
    name: string,
    options: SpanOptions,
    parent: Context,
    work: (span: Span) => Promise<T>,
    recordError?: (span: Span, error: unknown) => void,
  ): Promise<T>;
}

export function createTracing(options: { tracer: Tracer; sampler: Sampler; ids: PresetIdGenerator }): Tracing {
  const { tracer, sampler, ids } = options;
  const contextBelow = ({ traceId, spanId, sampled }: TraceParent): Context =>
    trace.setSpanContext(ROOT_CONTEXT, {
      traceId,
      spanId,
      traceFlags: sampled ? TraceFlags.SAMPLED : TraceFlags.NONE,
      isRemote: true,
    });
  /** Samples by the trace's id alone, so that every worker makes the same decision. */
  const decide = ({ traceId }: TraceParent): boolean =>
    sampler.shouldSample(ROOT_CONTEXT, traceId, '', SpanKind.INTERNAL, {}, []).decision ===
    SamplingDecision.RECORD_AND_SAMPLED;
  return {
    tracer,
    ids,
    contextBelow,
    fromHeaders: (headers) => {
      const carrier = carrierIn(headers);
      const parent = readTraceParent(carrier?.traceparent);
      if (parent === null) return ROOT_CONTEXT;
      return contextBelow(carrier?.undecided === '1' ? { ...parent, sampled: decide(parent) } : parent);
    },
    withHeader: (headers, span) => {
      const carrier: TraceCarrier = { traceparent: writeTraceParent(parentOf(span)) };
      return { ...headers, [TRACE_HEADER]: defaultPayloadConverter.toPayload(carrier) };
    },
    currentParent: () => {
      const span = trace.getSpan(context.active());
      return span !== undefined && trace.isSpanContextValid(span.spanContext()) ? parentOf(span) : null;
    },
    runInSpan: async (name, spanOptions, parent, work, recordError = recordErrorClass) => {
      const span = tracer.startSpan(name, spanOptions, parent);
      try {
        return await context.with(trace.setSpan(parent, span), () => work(span));
      } catch (error) {
        recordError(span, error);
        throw error;
      } finally {
        span.end();
      }
    },
  };
}

/** Records the class of an error but not its message, which may contain secrets. */
export function recordErrorClass(span: Span, error: unknown): void {
  span.setStatus({ code: SpanStatusCode.ERROR });
  span.setAttribute(ERROR_TYPE, error instanceof Error ? error.name : '_OTHER');
}

const parentOf = (span: Span): TraceParent => {
  const { traceId, spanId, traceFlags } = span.spanContext();
  return { traceId, spanId, sampled: (traceFlags & TraceFlags.SAMPLED) !== 0 };
};

function carrierIn(headers: Headers): TraceCarrier | null {
  const payload = headers[TRACE_HEADER];
  try {
    return payload === undefined ? null : defaultPayloadConverter.fromPayload<TraceCarrier>(payload);
  } catch {
    return null;
  }
}
