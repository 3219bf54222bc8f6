/** A worker, a client and a store of a test file's own, on the shared stack. */
import { NativeConnection, type Worker } from '@temporalio/worker';
import { inject } from 'vitest';
import { connectClient, createRunsClient, type RunsClient } from '../../src/client/runs-client.ts';
import { createRegistry, type Registry } from '../../src/define/registry.ts';
import type { Agent } from '../../src/define/define-agent.ts';
import { createStore, type Store } from '../../src/store/store.ts';
import { createWorker } from '../../src/worker/create-worker.ts';
import './quiet-runtime.ts';
import { createTestDatabase, idPrefix, uniqueTaskQueue, workflowBundlePath } from './stack.ts';

export interface RunWorld {
  runs: RunsClient;
  client: Awaited<ReturnType<typeof connectClient>>;
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

export async function openRunWorld(agents: Agent[]): Promise<RunWorld> {
  const { databaseUrl } = await createTestDatabase();
  const store = createStore(databaseUrl);
  const registry = createRegistry(agents);
  const taskQueue = uniqueTaskQueue();
  const address = inject('temporalAddress');
  const namespace = inject('namespace');
  const client = await connectClient({ address, namespace });
  const connection = await NativeConnection.connect({ address });
  const stops: (() => Promise<void>)[] = [];
  return {
    runs: createRunsClient({ client, registry, store, taskQueue }),
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
      await connection.close();
      await client.connection.close();
      await store.close();
    },
  };
}
