/**
 * A worker in its own process, to be killed. Its tools write to a file what they do, so that the test can await it.
 * argv: a JSON object {address, namespace, taskQueue, databaseUrl, bundlePath, noteFile}.
 */
import { once } from 'node:events';
import { DefaultLogger, NativeConnection, Runtime } from '@temporalio/worker';
import { createRegistry } from '../../src/define/registry.ts';
import { createStore } from '../../src/store/store.ts';
import { createWorker } from '../../src/worker/create-worker.ts';
import { killableAgent, type WorkerProcessOptions } from './killable-agent.ts';

const options = JSON.parse(process.argv[2] ?? '{}') as WorkerProcessOptions;
Runtime.install({ logger: new DefaultLogger('ERROR'), shutdownSignals: ['SIGTERM'] });
const connection = await NativeConnection.connect({ address: options.address });
const store = createStore(options.databaseUrl);
const worker = await createWorker({
  connection,
  namespace: options.namespace,
  registry: createRegistry([killableAgent(options.noteFile)]),
  store,
  taskQueue: options.taskQueue,
  workflowBundlePath: options.bundlePath,
});
process.stdout.write('ready\n');
if (options.standby) {
  await once(process.stdin, 'data');
  process.stdin.destroy();
}
await worker.run();
await connection.close();
await store.close();
