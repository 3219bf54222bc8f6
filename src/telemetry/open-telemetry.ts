/** Sets up OpenTelemetry. This file is loaded only if an endpoint is set. */
import { context, trace } from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import { defaultResource, detectResources, envDetector, resourceFromAttributes } from '@opentelemetry/resources';
import { BatchSpanProcessor, TracerProvider } from '@opentelemetry/sdk-trace';
import { within } from '../protocol/within.ts';
import { traceActivities } from './activity-spans.ts';
import { traceStarts } from './client-spans.ts';
import { createDelivery } from './delivery.ts';
import type { Telemetry, TelemetryOptions } from './start-telemetry.ts';
import { watchModelCalls } from './model-spans.ts';
import { hostOf, type TelemetrySettings } from './settings.ts';
import { readSampler } from './sampler.ts';
import { traceRuns } from './run-spans.ts';
import { createTracing, PresetIdGenerator } from './tracing.ts';
import { readTraceParent, writeTraceParent } from './trace-header.ts';
import { createAttributeBuilder } from './attribute-builder.ts';

const SERVICE = 'secondwind';
/** The longest that the end of a process waits for the last spans. */
const SHUTDOWN_MS = 2_000;

type On = Extract<TelemetrySettings, { state: 'on' }>;

export async function openTelemetry(
  settings: On,
  { env = process.env, redact, warn }: TelemetryOptions,
): Promise<Telemetry> {
  const { exporter, warnOnce } = await createDelivery({ ...settings, host: hostOf(settings.url), warn });
  const ids = new PresetIdGenerator();
  const sampler = readSampler(env);
  const provider = new TracerProvider({
    sampler,
    idGenerator: ids,
    // Attributes from the environment are merged last, so they take precedence.
    resource: defaultResource()
      .merge(resourceFromAttributes({ 'service.name': SERVICE }))
      .merge(detectResources({ detectors: [envDetector] })),
    spanProcessors: [new BatchSpanProcessor({ exporter })],
  });
  // Spans that tools create become children of ours. A process with its own setup keeps it.
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
  trace.setGlobalTracerProvider(provider);

  const tracing = createTracing({ tracer: provider.getTracer(SERVICE), sampler, ids });
  const wording = createAttributeBuilder(redact, settings.content);
  const stopWatching = watchModelCalls(tracing, wording);
  let ended: Promise<void> | undefined;
  return {
    clientInterceptor: traceStarts(tracing, wording),
    activityInterceptors: traceActivities(tracing, wording),
    sinks: traceRuns(tracing, wording),
    answer: (request, answer) => {
      const caller = readTraceParent(request.headers.get('traceparent'));
      return caller === null ? answer() : context.with(tracing.contextBelow(caller), answer);
    },
    inSpan: (name, work) => tracing.runInSpan(name, { attributes: {} }, context.active(), work),
    headers: (): Record<string, string> => {
      const here = tracing.currentParent();
      return here === null ? {} : { traceparent: writeTraceParent(here) };
    },
    logFields: (): Record<string, string> => {
      const here = tracing.currentParent();
      return here === null ? {} : { trace_id: here.traceId, span_id: here.spanId };
    },
    shutdown: () => {
      stopWatching();
      // The process ends, whether or not the last spans are delivered.
      const sent = (): Promise<void> => provider.shutdown().catch(() => {});
      return (ended ??= within(SHUTDOWN_MS, sent, () => warnOnce('no answer before the end')));
    },
  };
}
