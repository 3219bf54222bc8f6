import { defined } from '../protocol/json.ts';
import { join } from 'node:path';
import { IllegalStateError, type Logger } from '@temporalio/common';
import { NativeConnection, type NativeConnectionOptions, Runtime, type Worker } from '@temporalio/worker';
import type { ActivityStore } from '../activities/store-port.ts';
import { handleStrayErrors, type OtherErrors } from '../activities/stray-errors.ts';
import { NotReachableError } from '../protocol/errors.ts';
import { removeLeftAttemptFolders } from '../define/command/attempt-folder.ts';
import type { Registry } from '../define/registry.ts';
import type { Encryption } from '../encryption/encryption.ts';
import { externalConnection } from '../stack/temporal/external.ts';
import type { Telemetry } from '../telemetry/start-telemetry.ts';
import { bundleWorkflows, type BundleOptions } from './bundle-workflows.ts';
import { createWorker } from './create-worker.ts';

export interface StartWorkerOptions {
  temporalAddress: string;
  namespace: string;
  registry: Registry;
  store: ActivityStore;
  /** The path that `workflowBundle` returned. */
  workflowBundlePath: string;
  logger: Logger;
  /** TLS, keys and headers are read from its `TEMPORAL_*` variables. */
  env: NodeJS.ProcessEnv;
  taskQueue?: string;
  /** True if the Temporal server has our search attributes. */
  searchAttributes: boolean;
  telemetry?: Telemetry | undefined;
  encryption?: Encryption | undefined;
  /** What happens to an uncaught error that belongs to no tool. Default: `log`. */
  strayErrors?: OtherErrors;
}

export type WorkerEnd = { reason: 'stopped' } | { reason: 'failed'; error: unknown };

export interface RunningWorker {
  /** Takes no new work, gives running tools their grace period, and ends. Can be called twice. */
  stop(): Promise<void>;
  /** Never rejects. */
  ended: Promise<WorkerEnd>;
}

/** Bundles the workflows. This needs neither Temporal nor Postgres, so it can run while they start. */
export const workflowBundle = (cacheDir: string, options: BundleOptions = {}): Promise<string> =>
  bundleWorkflows(join(cacheDir, 'workflows'), options);

let runtimeInstalled = false;

/** Starts a worker in this process. The caller decides when it stops, and handles signals. */
export async function startWorker(options: StartWorkerOptions): Promise<RunningWorker> {
  installRuntime(options.logger);
  const { temporalAddress: address, env } = options;
  const connection = await NativeConnection.connect(await connectionTo(address, env)).catch((error: unknown) => {
    throw new NotReachableError(`Temporal at ${address}`, 'Start it, or correct TEMPORAL_ADDRESS.', error);
  });
  await removeLeftAttemptFolders();
  const letStrayErrorsGo = handleStrayErrors(options.logger, options.strayErrors);
  try {
    const worker = await createWorker({ ...options, connection });
    const ended = runUntilStopped(worker, connection).finally(letStrayErrorsGo);
    return {
      ended,
      stop: async () => {
        if (worker.getState() === 'RUNNING') worker.shutdown();
        await ended;
      },
    };
  } catch (error) {
    letStrayErrorsGo();
    await connection.close();
    throw error;
  }
}

async function connectionTo(address: string, env: NodeJS.ProcessEnv): Promise<NativeConnectionOptions> {
  const { tls, apiKey, metadata } = await externalConnection(address, env);
  return {
    address,
    ...defined({ tls }),
    // The API key may also be a function, but the environment only provides text.
    ...(typeof apiKey === 'string' && { apiKey }),
    ...defined({ metadata }),
  };
}

async function runUntilStopped(worker: Worker, connection: NativeConnection): Promise<WorkerEnd> {
  try {
    await worker.run();
    return { reason: 'stopped' };
  } catch (error) {
    return { reason: 'failed', error };
  } finally {
    await connection.close();
  }
}

/**
 * Installed once per process. By default the SDK would stop workers on a signal by itself, in its own order, and log to
 * stderr.
 */
function installRuntime(logger: Logger): void {
  if (runtimeInstalled) return;
  runtimeInstalled = true;
  try {
    Runtime.install({
      logger,
      shutdownSignals: [],
      telemetryOptions: { logging: { filter: { core: 'WARN', other: 'ERROR' }, forward: {} } },
    });
  } catch (error) {
    // A program that runs workers of its own has a runtime already, and it stays as the program has set it up.
    if (!(error instanceof IllegalStateError)) throw error;
  }
}
