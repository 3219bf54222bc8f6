import { type NativeConnection, Worker, type WorkerOptions } from '@temporalio/worker';
import { createActivities } from '../activities/create-activities.ts';
import type { ActivityStore } from '../activities/store-port.ts';
import { createMask, createRedactor, secretsOf } from '../core/redaction/redact.ts';
import type { Registry } from '../define/registry.ts';
import { findRegistrySecrets } from '../define/registry-secrets.ts';
import { TASK_QUEUE } from '../protocol/names.ts';
import type { Telemetry } from '../telemetry/start-telemetry.ts';
import { createDataConverter } from '../client/data-converter.ts';
import type { Encryption } from '../encryption/encryption.ts';

export interface CreateWorkerOptions {
  connection: NativeConnection;
  namespace: string;
  registry: Registry;
  store: ActivityStore;
  /** The file that `bundleWorkflows` wrote. */
  workflowBundlePath: string;
  taskQueue?: string;
  /** True if the Temporal server has our search attributes. */
  searchAttributes?: boolean;
  /** Needs a bundle made with `traced`; otherwise the spans of activities are not part of their run's trace. */
  telemetry?: Telemetry | undefined;
  /** Default: what `SECONDWIND_ENCRYPTION_KEYS` and `SECONDWIND_ENCRYPTION` say. */
  encryption?: Encryption | undefined;
}

/**
 * On shutdown a tool may finish within the grace period. Then its signal is aborted, and finally the worker is forced
 * to end.
 */
const SHUTDOWN_GRACE_MS = 5_000;
const SHUTDOWN_FORCE_MS = 10_000;

/** As JSON inside JSON, which is the longest form in which a secret still has its spaces. */
const longestWithSpaces = (secrets: readonly string[]): number =>
  Math.max(
    0,
    ...secrets.filter((secret) => /\s/.test(secret)).map((secret) => JSON.stringify(JSON.stringify(secret)).length),
  );

export function createWorker(options: CreateWorkerOptions): Promise<Worker> {
  const { telemetry } = options;
  const secrets = [...secretsOf(process.env), ...findRegistrySecrets(options.registry)];
  const redact = createRedactor(secrets);
  const settings: WorkerOptions = {
    connection: options.connection,
    namespace: options.namespace,
    taskQueue: options.taskQueue ?? TASK_QUEUE,
    workflowBundle: { codePath: options.workflowBundlePath },
    activities: createActivities({
      registry: options.registry,
      store: options.store,
      redact,
      maskKnown: createMask(secrets),
      streaming: process.env['SECONDWIND_STREAMING']?.trim() !== 'off',
      holdChars: longestWithSpaces(secrets),
      environment: process.env,
      searchAttributes: options.searchAttributes ?? false,
    }),
    dataConverter: createDataConverter({ encryption: options.encryption }),
    // The runs of a killed worker continue after one second instead of ten.
    stickyQueueScheduleToStartTimeout: 1_000,
    // A cancel arrives with the response to a heartbeat, so a tool learns of it within a second.
    maxHeartbeatThrottleInterval: 1_000,
    defaultHeartbeatThrottleInterval: 1_000,
    shutdownGraceTime: SHUTDOWN_GRACE_MS,
    shutdownForceTime: SHUTDOWN_GRACE_MS + SHUTDOWN_FORCE_MS,
    ...(telemetry && { sinks: telemetry.sinks, interceptors: { activity: [telemetry.activityInterceptors] } }),
  };
  return Worker.create(settings);
}
