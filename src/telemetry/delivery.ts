import type { SpanExporter } from '@opentelemetry/sdk-trace';
import type { Protocol } from './settings.ts';

export interface DeliveryOptions {
  url: string;
  protocol: Protocol;
  host: string;
  warn: (fields: object, message: string) => void;
}
export interface SpanDelivery {
  exporter: SpanExporter;
  /** Warns that spans are not delivered, once until a delivery succeeds again. */
  warnOnce: (reason: string) => void;
}

/** Sends spans over HTTP. OpenTelemetry itself reads headers, timeouts and certificates from `OTEL_EXPORTER_OTLP_*`. */
export async function createDelivery({ url, protocol, host, warn }: DeliveryOptions): Promise<SpanDelivery> {
  const { OTLPTraceExporter } =
    protocol === 'http/json'
      ? await import('@opentelemetry/exporter-trace-otlp-http')
      : await import('@opentelemetry/exporter-trace-otlp-proto');
  const sending: SpanExporter = new OTLPTraceExporter({ url });
  let isWarned = false;
  const warnOnce = (reason: string): void => {
    if (isWarned) return;
    isWarned = true;
    warn(
      { event: 'telemetry_not_delivered', endpoint: host, reason },
      'Spans cannot be delivered. Runs continue without them.',
    );
  };
  const exporter: SpanExporter = {
    export: (spans, done) =>
      sending.export(spans, (result) => {
        if (result.error === undefined) isWarned = false;
        else warnOnce(reasonOf(result.error));
        done({ code: 0 });
      }),
    shutdown: () => sending.shutdown(),
    forceFlush: async () => sending.forceFlush?.(),
  };
  return { exporter, warnOnce };
}

/** Leaves out the body of the response, which may contain anything. */
function reasonOf(error: Error): string {
  const code = 'code' in error ? String(error.code) : '';
  return (code || error.message).slice(0, 100);
}
