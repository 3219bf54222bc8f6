import { colours } from '../show/colours.ts';
import { connectClient } from '../../client/connect.ts';
import { createClient } from '../../client/create-client.ts';
import type { RunEnd } from '../../client/views.ts';
import { encryptionOfDataDir } from '../../encryption/settings.ts';
import { createRegistry } from '../../define/registry.ts';
import { SEARCH_ATTRIBUTE_TYPES } from '../../protocol/names.ts';
import { startStack } from '../../stack/start-stack.ts';
import { migrateToLatest } from '../../store/migrate.ts';
import { createStore } from '../../store/store.ts';
import { bundleWorkflows } from '../../worker/bundle-workflows.ts';
import { clerkAgent } from './clerk-agent.ts';
import { DemoWorkers } from './demo-workers.ts';
import { alone, firstDay, nextDay, stuck } from './demo-parts.ts';
import { openWarehouse } from './warehouse.ts';
import { startDemoWorker } from './worker-process.ts';

export interface DemoOptions {
  dataDir: string;
  bundleDir: string;
  say: (line: string) => void;
  progress: (line: string) => void;
}
export interface DemoRun {
  run_id: string;
  outcome: RunEnd['outcome'];
  attempts: number;
  attempts_at_most: number | null;
  failures: number;
}
export interface DemoFigures {
  alone_attempts: number;
  first_day: DemoRun;
  next_day: DemoRun;
  stuck: DemoRun & { steps: number };
  orders: number;
}

/** Runs the same scripted agent without and with Secondwind, on a stack of its own. All printed figures are measured. */
export async function runDemo(options: DemoOptions): Promise<DemoFigures> {
  const { say } = options;
  const ends: (() => Promise<unknown>)[] = [];
  try {
    const warehouse = await openWarehouse();
    ends.push(() => warehouse.close());
    const [stack, bundlePath] = await Promise.all([
      startStack({ dataDir: options.dataDir, progress: options.progress, searchAttributes: SEARCH_ATTRIBUTE_TYPES }),
      bundleWorkflows(options.bundleDir),
    ]);
    ends.push(() => stack.stop());
    await migrateToLatest(stack.databaseUrl);
    const encryption = await encryptionOfDataDir(process.env, stack.dataDir);
    const store = createStore({ databaseUrl: stack.databaseUrl, encryption });
    ends.push(() => store.close());
    const { temporalAddress: address, namespace } = stack;
    const client = await connectClient({ address, namespace, env: {}, encryption });
    ends.push(() => client.connection.close());
    const agentName = `clerk_${Date.now().toString(36)}`;
    const agent = clerkAgent(warehouse.url, agentName);
    const registry = createRegistry([agent]);
    const { searchAttributes } = stack;
    const { runs } = createClient({ temporal: client, store, registry, searchAttributes });
    const workerOptions = {
      address,
      namespace,
      dataDir: stack.dataDir,
      databaseUrl: stack.databaseUrl,
      bundlePath,
      warehouseUrl: warehouse.url,
      agentName,
    };
    const workers = new DemoWorkers(() => startDemoWorker(workerOptions));
    ends.push(() => workers.end());
    const parts = { runs, agent, warehouse, workers, say };

    say(colours.bold('\n1  The agent alone'));
    const aloneAttempts = await alone(parts);
    await workers.start();
    say(colours.bold('\n2  The same agent with Secondwind'));
    const first = await firstDay(parts);
    say(colours.bold('\n3  The next day'));
    const next = await nextDay(parts, first);
    say(colours.bold('\n4  Stuck without failing'));
    const watched = await stuck(parts);
    return {
      alone_attempts: aloneAttempts,
      first_day: toFigures(first),
      next_day: toFigures(next),
      stuck: { ...toFigures(watched), steps: watched.used.steps },
      orders: warehouse.orders(),
    };
  } finally {
    for (const end of ends.reverse()) await end();
  }
}

const toFigures = ({ run_id, outcome, used, bound, failures }: RunEnd): DemoRun => ({
  run_id,
  outcome,
  attempts: used.attempts,
  attempts_at_most: bound?.attempts ?? null,
  failures: failures.total,
});
