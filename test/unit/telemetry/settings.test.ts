import { SamplingDecision } from '@opentelemetry/sdk-trace';
import { ROOT_CONTEXT, SpanKind, trace } from '@opentelemetry/api';
import { describe, expect, it } from 'vitest';
import { readSampler } from '../../../src/telemetry/sampler.ts';
import { telemetrySettings } from '../../../src/telemetry/settings.ts';
import { startTelemetry } from '../../../src/telemetry/start-telemetry.ts';
import { readTraceParent, spanIdOf, traceIdOf, writeTraceParent } from '../../../src/telemetry/trace-header.ts';

const endpoint = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:4318/' };

describe('telemetry is', () => {
  it.each([
    ['off without an endpoint', {}, { state: 'off' }],
    ['off with an empty one', { OTEL_EXPORTER_OTLP_ENDPOINT: ' ' }, { state: 'off' }],
    ['off where OpenTelemetry is disabled', { ...endpoint, OTEL_SDK_DISABLED: 'TRUE' }, { state: 'off' }],
    ['off where traces are exported to nobody', { ...endpoint, OTEL_TRACES_EXPORTER: 'none' }, { state: 'off' }],
    [
      'on with one',
      endpoint,
      { state: 'on', url: 'http://127.0.0.1:4318/v1/traces', protocol: 'http/protobuf', content: false },
    ],
    [
      'on with one for traces alone, whose path is its own',
      {
        ...endpoint,
        OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'https://x.example/t',
        OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json',
      },
      { state: 'on', url: 'https://x.example/t', protocol: 'http/json' },
    ],
    ['on with content where that is asked for', { ...endpoint, SECONDWIND_TRACE_CONTENT: '1' }, { content: true }],
    ['unusable over gRPC', { ...endpoint, OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc' }, { state: 'unusable' }],
    ['unusable without an address', { OTEL_EXPORTER_OTLP_ENDPOINT: 'collector' }, { state: 'unusable' }],
  ])('%s', (_name, env, settings) => {
    expect(telemetrySettings(env)).toMatchObject(settings);
  });

  it('telemetry is off with one warning and a next step where its settings are invalid', async () => {
    const warnings: unknown[] = [];
    const warn = (fields: object, message: string): void => void warnings.push({ ...fields, message });
    const env = { OTEL_EXPORTER_OTLP_ENDPOINT: 'collector' };
    expect(await startTelemetry({ env, redact: (text) => text, warn })).toBeUndefined();
    expect(warnings).toMatchObject([{ event: 'telemetry_off', next_step: expect.stringContaining('http://') }]);
  });
});

describe('the sampler', () => {
  const parent = (sampled: boolean) =>
    trace.setSpanContext(ROOT_CONTEXT, {
      traceId: 'a'.repeat(32),
      spanId: 'b'.repeat(16),
      traceFlags: sampled ? 1 : 0,
    });
  it.each([
    ['', undefined, [true, true, false]],
    ['always_on', undefined, [true, true, true]],
    ['always_off', undefined, [false, false, false]],
    ['parentbased_always_off', undefined, [false, true, false]],
    ['traceidratio', '0', [false, false, false]],
    ['parentbased_traceidratio', '0', [false, true, false]],
    ['parentbased_traceidratio', 'nonsense', [true, true, false]],
  ])('%s %s decides for no parent, a sampled one, and one that is not', (name, argument, expected) => {
    const sampler = readSampler({ OTEL_TRACES_SAMPLER: name, OTEL_TRACES_SAMPLER_ARG: argument });
    const decided = [ROOT_CONTEXT, parent(true), parent(false)].map(
      (context) =>
        sampler.shouldSample(context, 'a'.repeat(32), 'n', SpanKind.INTERNAL, {}, []).decision ===
        SamplingDecision.RECORD_AND_SAMPLED,
    );
    expect(decided).toEqual(expected);
  });
});

describe('a trace parent', () => {
  it('a trace parent is read as it was written', () => {
    const parent = { traceId: traceIdOf('run'), spanId: spanIdOf('run'), sampled: true };
    expect(readTraceParent(writeTraceParent(parent))).toEqual(parent);
    expect(readTraceParent(writeTraceParent({ ...parent, sampled: false }))).toEqual({ ...parent, sampled: false });
  });

  it.each([
    undefined,
    7,
    '',
    '00-xyz-1-01',
    `00-${'0'.repeat(32)}-${'1'.repeat(16)}-01`,
    `00-${'1'.repeat(32)}-${'0'.repeat(16)}-01`,
    `00-${'1'.repeat(32)}-${'1'.repeat(16)}-01 and more`,
  ])('%s is none', (text) => {
    expect(readTraceParent(text)).toBeNull();
  });
});
