import { type NativeConnection, Worker, type WorkerOptions } from '@temporalio/worker';
import { createActivities } from '../activities/create-activities.ts';
import type { ActivityStore } from '../activities/store-port.ts';
import { createRedactor, secretsOf } from '../core/redaction/redact.ts';
import type { Registry } from '../define/registry.ts';
import { findRegistrySecrets } from '../define/registry-secrets.ts';
import { TASK_QUEUE } from '../protocol/names.ts';
import type { Telemetry } from '../telemetry/start-telemetry.ts';
import { createDataConverter } from '../client/data-converter.ts';

export interface CreateWorkerOptions {
  connection: NativeConnection;
  namespace: string;
  registry: Registry;
  store: ActivityStore;
  /** The file that `bundleWorkflows` wrote. */
  workflowBundlePath: string;
  taskQueue?: string;
  /** True where the server has our search attributes. */
  searchAttributes?: boolean;
  /** Needs a bundle made with `traced`, or what activities do is not seen as part of its run. */
  telemetry?: Telemetry | undefined;
}

/** On shutdown a tool may finish within the grace; then it is told to stop, and at last the worker goes. */
const SHUTDOWN_GRACE_MS = 5_000;
const SHUTDOWN_FORCE_MS = 10_000;

export function createWorker(options: CreateWorkerOptions): Promise<Worker> {
  const { telemetry } = options;
  const redact = createRedactor([...secretsOf(process.env), ...findRegistrySecrets(options.registry)]);
  const settings: WorkerOptions = {
    connection: options.connection,
    namespace: options.namespace,
    taskQueue: options.taskQueue ?? TASK_QUEUE,
    workflowBundle: { codePath: options.workflowBundlePath },
    activities: createActivities({
      registry: options.registry,
      store: options.store,
      redact,
      environment: process.env,
      searchAttributes: options.searchAttributes ?? false,
    }),
    dataConverter: createDataConverter({ redact }),
    // A killed worker's runs move on after a second instead of ten.
    stickyQueueScheduleToStartTimeout: 1_000,
    // Heartbeats carry the news of a cancel: a second is how long a tool may go on unaware.
    maxHeartbeatThrottleInterval: 1_000,
    defaultHeartbeatThrottleInterval: 1_000,
    shutdownGraceTime: SHUTDOWN_GRACE_MS,
    shutdownForceTime: SHUTDOWN_GRACE_MS + SHUTDOWN_FORCE_MS,
    ...(telemetry && { sinks: telemetry.sinks, interceptors: { activity: [telemetry.activityInterceptors] } }),
  };
  return Worker.create(settings);
}
