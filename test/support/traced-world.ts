/** A worker, a client and telemetry for one test in this process, on the shared stack. */
import { inject, onTestFinished } from 'vitest';
import { connectClient } from '../../src/client/connect.ts';
import { createClient } from '../../src/client/create-client.ts';
import { createRedactor } from '../../src/core/redaction/redact.ts';
import type { Agent } from '../../src/define/define-agent.ts';
import { createRegistry } from '../../src/define/registry.ts';
import { createStore } from '../../src/store/store.ts';
import { startTelemetry } from '../../src/telemetry/start-telemetry.ts';
import { createWorker } from '../../src/worker/create-worker.ts';
import { bundleOfPrograms } from './bundle.ts';
import { nativeConnection } from './connections.ts';
import { createTestDatabase, uniqueTaskQueue } from './stack.ts';

/** The bundle that the programs use when they trace. */
export const tracedBundle = (): Promise<string> => bundleOfPrograms(inject('programs'), { traced: true });

/**
 * Everything except the connections ends with the test. `end` stops the worker and then telemetry, so that all spans
 * are sent.
 */
export async function openTracedWorld(agents: Agent[], env: NodeJS.ProcessEnv, secrets: string[] = []) {
  const warnings: object[] = [];
  const telemetry = await startTelemetry({
    env: { OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json', ...env },
    redact: createRedactor(secrets),
    warn: (fields, message) => warnings.push({ ...fields, message }),
  });
  if (telemetry === undefined) throw new Error('telemetry is off');
  const [address, namespace, taskQueue] = [inject('temporalAddress'), inject('namespace'), uniqueTaskQueue()];
  const store = createStore((await createTestDatabase()).databaseUrl);
  const registry = createRegistry(agents);
  const client = await connectClient({ address, namespace, telemetry });
  const worker = await createWorker({
    connection: await nativeConnection(),
    namespace,
    registry,
    store,
    taskQueue,
    searchAttributes: true,
    workflowBundlePath: await tracedBundle(),
    telemetry,
  });
  const running = worker.run();
  const end = async (): Promise<void> => {
    if (worker.getState() === 'RUNNING') worker.shutdown();
    await running;
    await telemetry.shutdown();
  };
  onTestFinished(async () => {
    await end();
    await store.close();
  });
  return {
    runs: createClient({ temporal: client, registry, store, taskQueue }).runs,
    client,
    telemetry,
    taskQueue,
    warnings,
    end,
  };
}
