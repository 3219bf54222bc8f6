/** Reads whether telemetry is on, from the standard OpenTelemetry variables. */

type Environment = Record<string, string | undefined>;

export type TelemetrySettings =
  | { state: 'off'; why: string }
  | { state: 'unusable'; problem: string; nextStep: string }
  | { state: 'on'; url: string; protocol: Protocol; content: boolean };

const PROTOCOLS = ['http/protobuf', 'http/json'] as const;
export type Protocol = (typeof PROTOCOLS)[number];

export function telemetrySettings(env: Environment): TelemetrySettings {
  const set = (name: string): string | undefined => env[name]?.trim() || undefined;
  const endpoint = set('OTEL_EXPORTER_OTLP_ENDPOINT');
  const url = set('OTEL_EXPORTER_OTLP_TRACES_ENDPOINT') ?? (endpoint && `${endpoint.replace(/\/+$/, '')}/v1/traces`);
  if (url === undefined) return { state: 'off', why: 'OTEL_EXPORTER_OTLP_ENDPOINT is not set' };
  if (set('OTEL_SDK_DISABLED')?.toLowerCase() === 'true') return { state: 'off', why: 'OTEL_SDK_DISABLED is true' };
  if (set('OTEL_TRACES_EXPORTER') === 'none') return { state: 'off', why: 'OTEL_TRACES_EXPORTER is none' };
  if (!URL.canParse(url) || !/^https?:$/.test(new URL(url).protocol)) {
    const nextStep = 'Correct it, or unset it. It looks like http://127.0.0.1:4318.';
    return { state: 'unusable', problem: 'The telemetry endpoint is not an http or https URL.', nextStep };
  }
  const named = set('OTEL_EXPORTER_OTLP_TRACES_PROTOCOL') ?? set('OTEL_EXPORTER_OTLP_PROTOCOL') ?? PROTOCOLS[0];
  const protocol = PROTOCOLS.find((known) => known === named);
  if (protocol === undefined) {
    const nextStep = `Set OTEL_EXPORTER_OTLP_PROTOCOL to ${PROTOCOLS.join(' or ')}, and the port that takes it (often 4318).`;
    return { state: 'unusable', problem: `Telemetry cannot be sent as ${named.slice(0, 40)}.`, nextStep };
  }
  return { state: 'on', url, protocol, content: set('SECONDWIND_TRACE_CONTENT') === '1' };
}

/** The host of an endpoint. Its path and its user part may be secrets and are left out. */
export const hostOf = (url: string): string => new URL(url).host;
