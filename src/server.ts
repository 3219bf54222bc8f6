/** `secondwind/server`: runs agents: the client over Temporal, the worker, the store, and the stack for development. */
export { connectClient, type ConnectOptions } from './client/connect.ts';
export { createClient } from './client/create-client.ts';
export { createDataConverter } from './client/data-converter.ts';
export type { Encryption } from './encryption/encryption.ts';
export { encryptionFrom, encryptionOfDataDir } from './encryption/settings.ts';
export type { RunsInspector, TemporalClient, TemporalOptions } from './client/temporal/temporal-client.ts';
export type { TemporalGuards } from './client/temporal/temporal-guards.ts';
export { StackError, startStack, type Stack, type StackOptions } from './stack/start-stack.ts';
export { createStore, type Store } from './store/store.ts';
export { readMonitors, type Monitors } from './store/monitor-figures.ts';
export { migrateToLatest } from './store/migrate.ts';
export {
  createSecondwind,
  type RunOptions,
  type Secondwind,
  type SecondwindOptions,
} from './worker/create-secondwind.ts';
export { bundleWorkflows } from './worker/bundle-workflows.ts';
export { createWorker, type CreateWorkerOptions } from './worker/create-worker.ts';
export { startTelemetry, type Telemetry, type TelemetryOptions } from './telemetry/start-telemetry.ts';
export * from './index.ts';
