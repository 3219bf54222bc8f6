import { join } from 'node:path';
import type { Logger } from '@temporalio/common';
import { NativeConnection, type NativeConnectionOptions, Runtime, type Worker } from '@temporalio/worker';
import type { ActivityStore } from '../activities/store-port.ts';
import { NotReachableError } from '../protocol/errors.ts';
import type { Registry } from '../define/registry.ts';
import { externalConnection } from '../stack/temporal/external.ts';
import type { Telemetry } from '../telemetry/start-telemetry.ts';
import { bundleWorkflows, type BundleOptions } from './bundle-workflows.ts';
import { createWorker } from './create-worker.ts';

export interface StartWorkerOptions {
  temporalAddress: string;
  namespace: string;
  registry: Registry;
  store: ActivityStore;
  /** The file that `workflowBundle` named. */
  workflowBundlePath: string;
  logger: Logger;
  /** TLS, keys and headers of the `TEMPORAL_*` family are read from here. */
  env: NodeJS.ProcessEnv;
  taskQueue?: string;
  /** True where the server has our search attributes. */
  searchAttributes: boolean;
  telemetry?: Telemetry | undefined;
}

export type WorkerEnd = { reason: 'stopped' } | { reason: 'failed'; error: unknown };

export interface RunningWorker {
  /** Takes no new work, gives running tools their grace, and ends. Safe to call twice. */
  stop(): Promise<void>;
  /** Never rejects. */
  ended: Promise<WorkerEnd>;
}

/** Bundling needs neither Temporal nor Postgres, so it can be done while they start. */
export const workflowBundle = (cacheDir: string, options: BundleOptions = {}): Promise<string> =>
  bundleWorkflows(join(cacheDir, 'workflows'), options);

let runtimeInstalled = false;

/** A worker in this process. When it stops is for the caller to say, so signals are left to the caller too. */
export async function startWorker(options: StartWorkerOptions): Promise<RunningWorker> {
  installRuntime(options.logger);
  const { temporalAddress: address, env } = options;
  const connection = await NativeConnection.connect(await connectionTo(address, env)).catch((error: unknown) => {
    throw new NotReachableError(`Temporal at ${address}`, 'Start it, or correct TEMPORAL_ADDRESS.', error);
  });
  try {
    const worker = await createWorker({ ...options, connection });
    const ended = runToTheEnd(worker, connection);
    return {
      ended,
      stop: async () => {
        if (worker.getState() === 'RUNNING') worker.shutdown();
        await ended;
      },
    };
  } catch (error) {
    await connection.close();
    throw error;
  }
}

async function connectionTo(address: string, env: NodeJS.ProcessEnv): Promise<NativeConnectionOptions> {
  const { tls, apiKey, metadata } = await externalConnection(address, env);
  return {
    address,
    ...(tls !== undefined && { tls }),
    // A client may be given a function; the environment only ever gives a text.
    ...(typeof apiKey === 'string' && { apiKey }),
    ...(metadata !== undefined && { metadata }),
  };
}

async function runToTheEnd(worker: Worker, connection: NativeConnection): Promise<WorkerEnd> {
  try {
    await worker.run();
    return { reason: 'stopped' };
  } catch (error) {
    return { reason: 'failed', error };
  } finally {
    await connection.close();
  }
}

/** Once a process: by default the SDK would stop workers by itself on a signal, out of our order, and log to stderr. */
function installRuntime(logger: Logger): void {
  if (runtimeInstalled) return;
  runtimeInstalled = true;
  Runtime.install({
    logger,
    shutdownSignals: [],
    telemetryOptions: { logging: { filter: { core: 'WARN', other: 'ERROR' }, forward: {} } },
  });
}
