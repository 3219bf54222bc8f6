/** The light side of telemetry: loads nothing of OpenTelemetry unless an endpoint is set. */
import type { WorkflowClientInterceptor } from '@temporalio/client';
import type { ActivityInterceptorsFactory, InjectedSinks } from '@temporalio/worker';
import type { Redact } from '../core/redaction/redact.ts';
import type { RunSpanSink } from './run-span.ts';
import { telemetrySettings } from './settings.ts';

/** What the parts of a process need to be seen. `undefined` stands for telemetry that is off. */
export interface Telemetry {
  /** For a Temporal client. */
  clientInterceptor: WorkflowClientInterceptor;
  /** For a worker. */
  activityInterceptors: ActivityInterceptorsFactory;
  sinks: InjectedSinks<RunSpanSink>;
  /** Answers a request as part of its caller's trace, where the caller names one. */
  answer<T>(request: Request, answer: () => T): T;
  /** A span of this process's own around some work. */
  inSpan<T>(name: string, work: () => Promise<T>): Promise<T>;
  /** What a request to another process carries, so that its spans join. */
  headers(): Record<string, string>;
  /** What a log line says about the span that it was written in. */
  logFields(): Record<string, string>;
  /** Sends what is left, within two seconds. Never rejects. Safe to call twice. */
  shutdown(): Promise<void>;
}

export interface TelemetryOptions {
  env?: NodeJS.ProcessEnv;
  /** Takes secrets out of what is sent. */
  redact: Redact;
  /** Told once when spans cannot be delivered, not for each of them. */
  warn: (fields: object, message: string) => void;
}

/** Telemetry for this process; `undefined` when it is off. Nothing about it can fail: at worst there are no spans. */
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
