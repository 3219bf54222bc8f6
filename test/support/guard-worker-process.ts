/**
 * A worker that exits at a chosen moment: when the workflows have decided the answers to some reports and these are
 * being sent. It loads everything, prints `ready`, and starts to work at the first line on its stdin.
 * argv: a JSON object `GuardWorkerOptions`.
 */
import { once } from 'node:events';
import { DefaultLogger, NativeConnection, Runtime, Worker } from '@temporalio/worker';
import type { Payload, PayloadCodec } from '@temporalio/common';
import { createActivities } from '../../src/activities/create-activities.ts';
import { createRedactor } from '../../src/core/redaction/redact.ts';
import { createRegistry } from '../../src/define/registry.ts';
import { createStore } from '../../src/store/store.ts';
import { createDataConverter } from '../../src/client/data-converter.ts';

export interface GuardWorkerOptions {
  address: string;
  namespace: string;
  taskQueue: string;
  databaseUrl: string;
  bundlePath: string;
  /** The loops during whose answers it exits; none for a worker that stays. */
  diesAnswering: string[];
  /** 0: before the server can have received it; a few more: during the transfer; many: after the server has it. */
  afterMs: number;
}

const options = JSON.parse(process.argv[2] ?? '{}') as GuardWorkerOptions;
const die = () => process.kill(process.pid, 'SIGKILL');

const isDoomed = ({ data }: Payload): boolean => {
  const text = new TextDecoder().decode(data ?? new Uint8Array());
  return options.diesAnswering.some((loop) => text.startsWith(`{"status":"success","loop_id":"${loop}"`));
};

let held = 0;
let release = (): void => {};
const released = new Promise<void>((resolve) => {
  release = resolve;
});

/** Sees everything that the worker sends, and holds the chosen answers until all of them are decided. */
const deadly: PayloadCodec = {
  encode: async (payloads) => {
    if (!payloads.some(isDoomed)) return payloads;
    held += 1;
    if (held === options.diesAnswering.length) {
      if (options.afterMs === 0) die();
      setTimeout(die, options.afterMs);
      release();
    }
    await released;
    return payloads;
  },
  decode: (payloads) => Promise.resolve(payloads),
};

Runtime.install({ logger: new DefaultLogger('ERROR') });
const redact = createRedactor();
const store = createStore(options.databaseUrl);
const connection = await NativeConnection.connect({ address: options.address });
process.stdout.write('ready\n');
await once(process.stdin, 'data');
const worker = await Worker.create({
  connection,
  namespace: options.namespace,
  taskQueue: options.taskQueue,
  workflowBundle: { codePath: options.bundlePath },
  activities: createActivities({ registry: createRegistry([]), store, redact, maskKnown: (text) => text }),
  dataConverter: { payloadCodecs: [deadly, ...(createDataConverter().payloadCodecs ?? [])] },
  stickyQueueScheduleToStartTimeout: 1_000,
});
await worker.run();
