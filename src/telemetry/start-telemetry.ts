/** The light part of telemetry. OpenTelemetry is loaded only if an endpoint is set. */
import type { WorkflowClientInterceptor } from '@temporalio/client';
import type { ActivityInterceptorsFactory, InjectedSinks } from '@temporalio/worker';
import type { Redact } from '../core/redaction/redact.ts';
import type { RunSpanSink } from './run-span.ts';
import { telemetrySettings } from './settings.ts';

/** The hooks that the parts of a process use for tracing. `undefined` means that telemetry is off. */
export interface Telemetry {
  /** For a Temporal client. */
  clientInterceptor: WorkflowClientInterceptor;
  /** For a worker. */
  activityInterceptors: ActivityInterceptorsFactory;
  sinks: InjectedSinks<RunSpanSink>;
  /** Answers a request as part of the caller's trace, if the request names one. */
  answer<T>(request: Request, answer: () => T): T;
  /** Runs work inside a span of this process. */
  inSpan<T>(name: string, work: () => Promise<T>): Promise<T>;
  /** Headers for a request to another process, so that its spans join the trace. */
  headers(): Record<string, string>;
  /** Fields for a log line that name the current span. */
  logFields(): Record<string, string>;
  /** Sends the remaining spans, within two seconds. Never rejects. Can be called twice. */
  shutdown(): Promise<void>;
}

export interface TelemetryOptions {
  env?: NodeJS.ProcessEnv;
  /** Removes secrets from what is sent. */
  redact: Redact;
  /** Called once if spans cannot be delivered, not for each span. */
  warn: (fields: object, message: string) => void;
}

/** Starts telemetry for this process; returns `undefined` if it is off. It never fails: at worst no spans are sent. */
export async function startTelemetry({
  env = process.env,
  redact,
  warn,
}: TelemetryOptions): Promise<Telemetry | undefined> {
  const settings = telemetrySettings(env);
  if (settings.state === 'off') return undefined;
  if (settings.state === 'unusable') {
    warn({ event: 'telemetry_off', next_step: settings.nextStep }, settings.problem);
    return undefined;
  }
  const { openTelemetry } = await import('./open-telemetry.ts');
  return openTelemetry(settings, { env, redact, warn });
}
