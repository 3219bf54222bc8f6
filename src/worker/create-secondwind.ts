import { resolve } from 'node:path';
import { DefaultLogger } from '@temporalio/worker';
import { connectClient } from '../client/connect.ts';
import { createClient } from '../client/create-client.ts';
import type { Guards, KeyedOptions, Runs } from '../client/secondwind-client.ts';
import type { RunEnd, StartedRun } from '../client/views.ts';
import type { Agent } from '../define/define-agent.ts';
import { createRegistry } from '../define/registry.ts';
import { encryptionFrom, encryptionOfDataDir } from '../encryption/settings.ts';
import { SEARCH_ATTRIBUTE_TYPES, TASK_QUEUE } from '../protocol/names.ts';
import type { RunRequest } from '../protocol/run.ts';
import { joinStack } from '../stack/join-stack.ts';
import { cacheDir } from '../stack/machine/cache-dir.ts';
import { defaultDataDir } from '../stack/machine/default-data-dir.ts';
import { StackError, startStack } from '../stack/start-stack.ts';
import type { Stack } from '../stack/types.ts';
import { migrateToLatest } from '../store/migrate.ts';
import { createStore } from '../store/store.ts';
import { startWorker, workflowBundle } from './main.ts';

/** Options of `createSecondwind`. */
export interface SecondwindOptions {
  /** The agents that this process can run, and whose runs it works on. */
  agents: Agent[];
  /** Folder of the embedded Temporal and Postgres. Default: `SECONDWIND_DATA_DIR`, else the folder that `secondwind dev` uses. */
  dataDir?: string;
  /** Default: `secondwind`; beside a `secondwind dev` that runs already, a queue named after your first agent. */
  taskQueue?: string;
  /** Called with one line about the progress of the start. */
  progress?: (line: string) => void;
}

/** Options of `run`. */
export interface RunOptions extends KeyedOptions {
  /** Called with the run's id and limit as soon as it has started. */
  onStart?: (started: StartedRun) => void;
}

/** A running Secondwind, as `createSecondwind` returns it. */
export interface Secondwind {
  /**
   * Starts a run of the agent and waits for its result, which has the type of the agent's `output`. Aborting the signal stops the
   * waiting, not the run.
   */
  run<Output>(agent: Agent<Output>, request: Omit<RunRequest, 'agent'>, options?: RunOptions): Promise<RunEnd<Output>>;
  /** Every other call about runs: watch, answer, override, cancel, and more. */
  runs: Runs;
  guards: Guards;
  /** Stops the worker and what was started for it. Open runs continue when a worker with their agents starts again. */
  close(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}

/**
 * Starts all that your agents need in this process: a worker and a client, with an embedded Temporal and Postgres. It uses the servers
 * that `TEMPORAL_ADDRESS` and `DATABASE_URL` name, and joins a `secondwind dev` that already runs on the same data folder.
 *
 * @example
 * ```ts
 * const sw = await createSecondwind({ agents: [greeter] });
 * const { outcome, result } = await sw.run(greeter, { goal: 'say hello' });
 * await sw.close();
 * ```
 */
export async function createSecondwind(options: SecondwindOptions): Promise<Secondwind> {
  const registry = createRegistry(options.agents);
  const closers: (() => Promise<unknown>)[] = [];
  // Each part ends before the parts that it needs.
  const closeAll = async (): Promise<void> => {
    for (const close of closers.splice(0).toReversed()) await close();
  };
  try {
    const bundled = workflowBundle(cacheDir(process.env));
    // Its failure is reported where it is awaited.
    bundled.catch(() => {});
    const stack = await startOrJoin(options);
    closers.push(() => stack.stop());
    const isExternal = Boolean(process.env['TEMPORAL_ADDRESS']);
    const joined = !stack.owned.temporal && !isExternal;
    const taskQueue = options.taskQueue ?? (joined ? `${TASK_QUEUE}-${options.agents[0]?.name}` : TASK_QUEUE);

    await migrateToLatest(stack.databaseUrl);
    const encryption = isExternal ? encryptionFrom(process.env) : await encryptionOfDataDir(process.env, stack.dataDir);
    const store = createStore({ databaseUrl: stack.databaseUrl, encryption });
    closers.push(() => store.close());
    // Keys in the environment are for an external Temporal, and not for the dev server.
    const env = isExternal ? process.env : {};
    const shared = { ...stack, registry, store, encryption, taskQueue, env };
    const workflowBundlePath = await bundled;
    const logger = new DefaultLogger('ERROR');
    const worker = await startWorker({ ...shared, workflowBundlePath, logger, strayErrors: 'end_process' });
    closers.push(() => worker.stop());
    const temporal = await connectClient({ ...shared, address: stack.temporalAddress });
    closers.push(() => temporal.connection.close());
    const { runs, guards } = createClient({ ...shared, temporal });

    const run: Secondwind['run'] = async (agent, request, { onStart, ...call } = {}) => {
      if (registry.agents.get(agent.name) !== agent) {
        const known = [...registry.agents.keys()].join(', ');
        throw new TypeError(`The agent ${agent.name} was not given to createSecondwind, which has: ${known}.`);
      }
      const started = await runs.start({ ...request, agent: agent.name }, call);
      onStart?.(started);
      return runs.result(started.run_id, { ...call, agent });
    };
    return { run, runs, guards, close: closeAll, [Symbol.asyncDispose]: closeAll };
  } catch (error) {
    await closeAll();
    throw error;
  }
}

async function startOrJoin({ dataDir, progress }: SecondwindOptions): Promise<Stack> {
  const folder = resolve(dataDir ?? process.env['SECONDWIND_DATA_DIR'] ?? defaultDataDir(process.env));
  const searchAttributes = SEARCH_ATTRIBUTE_TYPES;
  try {
    return await startStack({ dataDir: folder, searchAttributes, ...(progress && { progress }) });
  } catch (error) {
    if (!(error instanceof StackError) || error.code !== 'folder_in_use') throw error;
    const namespace = process.env['TEMPORAL_NAMESPACE'] || 'default';
    const joined = await joinStack({ dataDir: folder, namespace, searchAttributes });
    if (joined === undefined) throw error;
    progress?.(`Using the Temporal and Postgres that already run on ${folder}`);
    return joined;
  }
}
