import type { ChildProcess } from 'node:child_process';
import pc from 'picocolors';
import { connectClient, createRunsClient, type RunEvent, type RunsClient } from '../client/index.ts';
import { boundSentence } from '../core/bound/index.ts';
import { createRegistry } from '../define/registry.ts';
import { SEARCH_ATTRIBUTE_TYPES } from '../protocol/names.ts';
import type { RunResult } from '../protocol/run.ts';
import { startStack } from '../stack/index.ts';
import { migrateToLatest } from '../store/migrate.ts';
import { createStore } from '../store/store.ts';
import { bundleWorkflows } from '../worker/bundle-workflows.ts';
import { askPerson } from './ask-person.ts';
import { clerkAgent, clerkChooses } from './clerk-agent.ts';
import { narrate } from './narrate.ts';
import { openWarehouse, type Warehouse } from './warehouse.ts';
import { endDemoWorker, startDemoWorker } from './worker-process.ts';

export interface DemoOptions {
  dataDir: string;
  bundleDir: string;
  say: (line: string) => void;
  progress: (line: string) => void;
}
export interface DemoFigures {
  alone_attempts: number;
  run_id: string;
  outcome: RunResult['outcome'];
  attempts: number;
  attempts_at_most: number;
  failures: number;
  orders: number;
}

const ALONE = 9;
const ANSWER_AFTER_MS = 2_000;

/** The same scripted agent, alone and with Secondwind, on a stack of its own. Everything that is told has happened. */
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
    const store = createStore(stack.databaseUrl);
    ends.push(() => store.close());
    const client = await connectClient({ address: stack.temporalAddress, namespace: stack.namespace, env: {} });
    ends.push(() => client.connection.close());
    const agent = clerkAgent(warehouse.url);
    const runs = createRunsClient({
      client,
      store,
      registry: createRegistry([agent]),
      searchAttributes: stack.searchAttributes,
    });

    say(pc.bold('\n1  The agent alone'));
    await clerkAlone(agent, say);
    say(pc.bold('\n2  The same agent with Secondwind'));
    const workerOptions = {
      address: stack.temporalAddress,
      namespace: stack.namespace,
      databaseUrl: stack.databaseUrl,
      bundlePath,
      warehouseUrl: warehouse.url,
    };
    const workers = new DemoWorkers(() => startDemoWorker(workerOptions));
    ends.push(() => workers.end());
    await workers.start();
    const result = await clerkWithSecondwind(runs, warehouse, workers, say);
    return {
      alone_attempts: ALONE,
      run_id: result.run_id,
      outcome: result.outcome,
      attempts: result.used.attempts,
      attempts_at_most: result.bound.attempts,
      failures: result.failures.total,
      orders: warehouse.orders(),
    };
  } finally {
    for (const end of ends.reverse()) await end();
  }
}

/** The worker of the moment; the demo kills one and starts the next. */
class DemoWorkers {
  readonly #begin: () => Promise<ChildProcess>;
  #current: ChildProcess | null = null;

  constructor(begin: () => Promise<ChildProcess>) {
    this.#begin = begin;
  }

  async start(): Promise<void> {
    this.#current = await this.#begin();
  }

  async kill(): Promise<number | undefined> {
    const pid = this.#current?.pid;
    if (this.#current !== null) await endDemoWorker(this.#current, 'SIGKILL');
    return pid;
  }

  async end(): Promise<void> {
    if (this.#current !== null) await endDemoWorker(this.#current, 'SIGTERM');
  }
}

async function clerkAlone(agent: ReturnType<typeof clerkAgent>, say: (line: string) => void): Promise<void> {
  const nothing = { rows: [], text: '' };
  for (let attempt = 1; attempt <= ALONE; attempt += 1) {
    const [call] = clerkChooses({ steps: [], guidance: nothing }).calls;
    const tool = agent.tools.find((candidate) => candidate.name === call?.tool);
    const context = {
      guidance: nothing,
      attempt,
      constraints: {},
      idempotencyKey: `alone:${attempt}`,
      signal: new AbortController().signal,
      heartbeat: () => undefined,
      changed: () => undefined,
    };
    try {
      await tool?.run(call?.input, context);
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error);
      say(`${pc.red('✗')} ${tool?.name} ${JSON.stringify(call?.input)}: ${message}`);
    }
  }
  say(`The same call, the same error, ${ALONE} times. It gives up.`);
}

async function clerkWithSecondwind(
  runs: RunsClient,
  warehouse: Warehouse,
  workers: DemoWorkers,
  say: (line: string) => void,
): Promise<RunResult> {
  const started = await runs.start({ agent: 'clerk', goal: 'Order three pallets of what is short' });
  say(`${pc.bold(boundSentence(started.bound))} ${pc.dim('Known before it starts, and never passed.')}`);
  let killed = false;
  let questions = 0;
  for await (const event of runs.watch(started.run_id)) {
    const line = narrate(event);
    if (line !== null && line !== '') say(line);
    if (event.event === 'step_started' && event.tool === 'warehouse.recount' && !killed) {
      killed = true;
      say(`${pc.yellow('!')} killing the worker (process ${await workers.kill()}) in the middle of the step …`);
      await workers.start();
      say(`  ${pc.dim('another worker takes over as soon as the silence is noticed')}`);
    }
    if (event.event === 'question_asked') {
      questions += 1;
      await answer(runs, started.run_id, event, warehouse, say);
    }
  }
  const result = await runs.result(started.run_id);
  const { attempts } = result.used;
  say(
    `${pc.bold(result.outcome)}: ${attempts} of at most ${result.bound.attempts} attempts, ` +
      `${result.failures.total} failures recorded, ${questions} question asked, ` +
      `${warehouse.orders()} order in the warehouse.`,
  );
  return result;
}

async function answer(
  runs: RunsClient,
  runId: string,
  question: Extract<RunEvent, { event: 'question_asked' }>,
  warehouse: Warehouse,
  say: (line: string) => void,
): Promise<void> {
  say(`  ${pc.dim(`the warehouse has ${warehouse.orders()} order, so running it again would order twice`)}`);
  if (process.stdin.isTTY)
    say(`  type ${question.options.join(', ')}; the demo answers skip in ${ANSWER_AFTER_MS / 1000} s`);
  const { decision, by } = await askPerson(question.options, 'skip', ANSWER_AFTER_MS);
  const text = decision === 'correct' ? { text: 'corrected in the demo' } : {};
  await runs.answer(runId, { question_id: question.question_id, decision, by, ...text });
}
