/** The worker of the demo, in its own process so that the demo can kill it. Its argument is its options as JSON. */
import { DefaultLogger, NativeConnection, Runtime } from '@temporalio/worker';
import { encryptionOfDataDir } from '../../encryption/settings.ts';
import { createRegistry } from '../../define/registry.ts';
import { createStore } from '../../store/store.ts';
import { createWorker } from '../../worker/create-worker.ts';
import { clerkAgent } from './clerk-agent.ts';

export interface DemoWorkerOptions {
  address: string;
  namespace: string;
  /** Where the demo's encryption key is. */
  dataDir: string;
  databaseUrl: string;
  bundlePath: string;
  warehouseUrl: string;
  agentName: string;
}

const options = JSON.parse(process.argv[2] ?? '{}') as DemoWorkerOptions;
Runtime.install({ logger: new DefaultLogger('ERROR') });
const connection = await NativeConnection.connect({ address: options.address });
const encryption = await encryptionOfDataDir(process.env, options.dataDir);
const store = createStore({ databaseUrl: options.databaseUrl, encryption });
const worker = await createWorker({
  connection,
  namespace: options.namespace,
  registry: createRegistry([clerkAgent(options.warehouseUrl, options.agentName)]),
  store,
  encryption,
  workflowBundlePath: options.bundlePath,
});
process.send?.('polling');
// The worker ends when the demo ends, even if the demo is killed.
process.once('disconnect', () => {
  if (worker.getState() === 'RUNNING') worker.shutdown();
});
await worker.run();
await connection.close();
await store.close();
// The open channel to the demo would keep this process alive.
if (process.connected) process.disconnect();
