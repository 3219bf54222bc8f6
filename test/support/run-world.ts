/** A worker, a client and a store for one test file, on the shared stack. */
import type { Worker } from '@temporalio/worker';
import { inject } from 'vitest';
import { createClient } from '../../src/client/create-client.ts';
import type { TemporalClient, TemporalOptions } from '../../src/client/temporal/temporal-client.ts';
import { createRegistry, type Registry } from '../../src/define/registry.ts';
import type { Agent } from '../../src/define/define-agent.ts';
import { createStore, type Store } from '../../src/store/store.ts';
import { createWorker } from '../../src/worker/create-worker.ts';
import { nativeConnection, temporalClient } from './connections.ts';
import { createTestDatabase, idPrefix, uniqueTaskQueue, workflowBundlePath } from './stack.ts';

export interface RunWorld extends TemporalClient {
  /** A second client, with other options. */
  clientWith(options: Partial<TemporalOptions>): TemporalClient;
  client: Awaited<ReturnType<typeof temporalClient>>;
  registry: Registry;
  store: Store;
  databaseUrl: string;
  taskQueue: string;
  /** A run id that no other test uses. */
  newRunId(name: string): string;
  startWorker(): Promise<() => Promise<void>>;
  close(): Promise<void>;
}

let ids = 0;

export async function openRunWorld(agents: Agent[], ownDatabaseUrl?: string): Promise<RunWorld> {
  const databaseUrl = ownDatabaseUrl ?? (await createTestDatabase()).databaseUrl;
  const store = createStore(databaseUrl);
  const registry = createRegistry(agents);
  const taskQueue = uniqueTaskQueue();
  const namespace = inject('namespace');
  const [client, connection] = await Promise.all([temporalClient(), nativeConnection()]);
  const stops: (() => Promise<void>)[] = [];
  const own = { temporal: client, registry, store, taskQueue };
  return {
    ...createClient(own),
    clientWith: (options) => createClient({ ...own, ...options }),
    client,
    registry,
    store,
    databaseUrl,
    taskQueue,
    newRunId: (name) => `${idPrefix}-${name}-${(ids += 1)}`,
    startWorker: async () => {
      const worker: Worker = await createWorker({
        connection,
        namespace,
        registry,
        store,
        taskQueue,
        searchAttributes: true,
        workflowBundlePath: workflowBundlePath(),
      });
      const running = worker.run();
      let stopped: Promise<void> | undefined;
      const stop = () => {
        stopped ??= (async () => {
          worker.shutdown();
          await running;
        })();
        return stopped;
      };
      stops.push(stop);
      return stop;
    },
    close: async () => {
      for (const stop of stops) await stop();
      await store.close();
    },
  };
}
