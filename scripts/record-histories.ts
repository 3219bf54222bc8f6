/**
 * Records the histories that test/stack/replay.test.ts replays: `npx tsx scripts/record-histories.ts`. Starts a stack
 * of its own in a temporary folder. Until the first tagged release they are recorded again with each change of the
 * story, without encryption, so that everybody can read and replay them. After it they are never recorded again, because they stand for runs that may still be open.
 */
import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Client } from '@temporalio/client';
import { historyToJSON } from '@temporalio/common/lib/proto-utils.js';
import { DefaultLogger, NativeConnection, Runtime } from '@temporalio/worker';
import { connectClient } from '../src/client/connect.ts';
import { createClient } from '../src/client/create-client.ts';
import type { Runs } from '../src/client/secondwind-client.ts';
import { createRegistry } from '../src/define/registry.ts';
import { createEncryption } from '../src/encryption/encryption.ts';
import { workflowIdOfRun } from '../src/protocol/ids.ts';
import { MESSAGE, SEARCH_ATTRIBUTE_TYPES } from '../src/protocol/names.ts';
import type { RunRequest } from '../src/protocol/run.ts';
import { startStack } from '../src/stack/start-stack.ts';
import { migrateToLatest } from '../src/store/migrate.ts';
import { createStore } from '../src/store/store.ts';
import { bundleWorkflows } from '../src/worker/bundle-workflows.ts';
import { createWorker } from '../src/worker/create-worker.ts';
import { scenarios } from '../test/scenarios/scenarios.ts';
import { scriptedAgents } from '../test/scenarios/scripted-agents.ts';

const FOLDER = fileURLToPath(new URL('../test/replay/histories', import.meta.url));
const TASK_QUEUE = 'recording';

interface Recording {
  /** The file's name, without its date. */
  what: string;
  /** The name of the scenario to run. */
  scenario: string;
  handOverAfterEvents?: number;
  answerBy?: 'signal' | 'update';
  /** Cancels the workflow with Temporal as soon as the first question is open. */
  cancel?: true;
  /** Recalls and stores lessons, which other scenarios do not. */
  remembers?: true;
}

const recordings: Recording[] = [
  { what: 'three-steps', scenario: 'three steps that succeed' },
  { what: 'retries', scenario: 'a server that is unavailable twice' },
  { what: 'answered-by-signal', scenario: 'a permanent failure and a person who answers retry', answerBy: 'signal' },
  { what: 'corrected-by-update', scenario: 'a person who corrects, and the correction helps', answerBy: 'update' },
  {
    what: 'edited-approval',
    scenario: 'two approvals with another input than the planned one, which the calls then run with',
    answerBy: 'update',
  },
  { what: 'reconciled', scenario: 'a side effect that the tool itself finds not done, so it is tried again' },
  { what: 'parallel', scenario: 'four steps side by side, two of which fail at first' },
  {
    what: 'planner',
    scenario: 'a planner that fails, is sent back by the review and does better in its second pass',
  },
  { what: 'paid-once', scenario: 'a second pass that would pay again and gets the receipt of the first pass' },
  { what: 'sub-runs', scenario: 'two agents asked at once, then one that uses up its share of the budget' },
  { what: 'bad-messages', scenario: 'invalid messages, one feedback message and a pending override' },
  { what: 'cancelled', scenario: 'a permanent failure and a person who answers retry', cancel: true },
  { what: 'remembers', scenario: 'a server that is unavailable twice', remembers: true },
  { what: 'stuck', scenario: 'a planner that may continue once and is stuck again', answerBy: 'signal' },
  { what: 'guard-asked', scenario: 'a guard that asks before it ends the run: one more pass, and then no more' },
  { what: 'handed-over', scenario: 'four steps side by side, two of which fail at first', handOverAfterEvents: 8 },
];

interface World {
  client: Client;
  runs: Runs;
  /** The runs of a client with these workflow settings. */
  runsWith(workflow: { hand_over_after_events?: number }): Runs;
}

async function live(world: World, recording: Recording): Promise<string[]> {
  const scenario = scenarios.find((candidate) => candidate.name === recording.scenario);
  if (scenario === undefined) throw new Error(`There is no scenario "${recording.scenario}".`);
  const runId = `kept-${recording.what}`;
  const memory = recording.remembers ? { memory: { scope: 'agent' as const } } : {};
  const policy = { ...scenario.request.policy, ...memory };
  const request: RunRequest = { ...scenario.request, policy, run_id: runId };
  const { handOverAfterEvents } = recording;
  const workflow = handOverAfterEvents === undefined ? {} : { hand_over_after_events: handOverAfterEvents };
  await world.runsWith(workflow).start(request);
  const handle = world.client.workflow.getHandle(workflowIdOfRun(runId));
  for (const message of scenario.atOnce ?? []) await handle.signal(message.type, message.body);
  for (const [number, reply] of Object.entries(scenario.answers ?? {})) {
    const body = { question_id: await openQuestion(world, runId, number), ...reply.body };
    if (recording.cancel) await handle.cancel();
    else if (recording.answerBy === 'signal') await handle.signal(MESSAGE.answer, body);
    else await world.runs.answer(runId, body as Parameters<Runs['answer']>[1]);
  }
  const result = await world.runs.result(runId);
  const expected = recording.cancel ? 'cancelled' : scenario.expect.outcome;
  if (result.outcome !== expected) throw new Error(`${recording.what} ended ${result.outcome}, not ${expected}.`);
  return histories(world.client, runId);
}

async function openQuestion(world: World, runId: string, number: string): Promise<string> {
  for (;;) {
    const { pending_question: question } = await world.runs.get(runId);
    if (question?.question_id.endsWith(`q${number}`)) return question.question_id;
    await new Promise((resolve) => setTimeout(resolve, 30));
  }
}

/** The histories of each execution of the chain, oldest first. */
async function histories(client: Client, runId: string): Promise<string[]> {
  const workflowId = workflowIdOfRun(runId);
  const { events } = await client.workflow.getHandle(workflowId).fetchHistory();
  let execution = events?.[0]?.workflowExecutionStartedEventAttributes?.firstExecutionRunId;
  const found: string[] = [];
  while (execution) {
    const history = await client.workflow.getHandle(workflowId, execution).fetchHistory();
    found.push(clean(historyToJSON(history)));
    execution = history.events?.at(-1)?.workflowExecutionContinuedAsNewEventAttributes?.newExecutionRunId;
  }
  return found;
}

/**
 * Removes who recorded it and where, because that is private and differs each time: `<pid>@<host>`, paths in stacks.
 */
function clean(json: string): string {
  const strange = /^\d+@/;
  const value: unknown = JSON.parse(json, (key, inner: unknown) => {
    if (key === 'encodedAttributes') return withoutStack(inner as { data: string });
    if (typeof inner !== 'string') return inner;
    if (key === 'stackTrace') return '';
    if (key === 'identity') return 'recorder';
    // A sticky queue is named after its worker.
    return strange.test(inner) ? 'sticky' : inner;
  });
  return `${JSON.stringify(value, null, 1)}\n`;
}

/** The message and the stack of a failure are JSON in a payload, in base64. */
function withoutStack(payload: { data: string }): object {
  const attributes = JSON.parse(Buffer.from(payload.data, 'base64').toString()) as object;
  return { ...payload, data: Buffer.from(JSON.stringify({ ...attributes, stack_trace: '' })).toString('base64') };
}

async function removeOld(): Promise<void> {
  for (const name of await readdir(FOLDER)) if (name.endsWith('.json')) await rm(join(FOLDER, name));
}

async function main(): Promise<void> {
  Runtime.install({ logger: new DefaultLogger('ERROR') });
  const folder = await mkdtemp(join(tmpdir(), 'secondwind-record-'));
  const stack = await startStack({
    dataDir: join(folder, 'data'),
    searchAttributes: SEARCH_ATTRIBUTE_TYPES,
    progress: (line) => console.log(line),
  });
  try {
    await migrateToLatest(stack.databaseUrl);
    const registry = createRegistry(scriptedAgents);
    const store = createStore({ databaseUrl: stack.databaseUrl, encryption: createEncryption([]) });
    const { temporalAddress: address, namespace } = stack;
    const connection = await NativeConnection.connect({ address });
    const workflowBundlePath = await bundleWorkflows(folder);
    const worker = await createWorker({
      connection,
      namespace,
      registry,
      store,
      taskQueue: TASK_QUEUE,
      workflowBundlePath,
      encryption: createEncryption([]),
    });
    const client = await connectClient({ address, namespace, encryption: createEncryption([]) });
    const options = { temporal: client, registry, store, taskQueue: TASK_QUEUE };
    const runsWith: World['runsWith'] = (workflow) => createClient({ ...options, workflow }).runs;
    const world = { client, runs: runsWith({}), runsWith };
    await mkdir(FOLDER, { recursive: true });
    await worker.runUntil(async () => {
      const recorded = new Map<string, string[]>();
      for (const recording of recordings) recorded.set(recording.what, await live(world, recording));
      await removeOld();
      const date = new Date().toISOString().slice(0, 10);
      for (const [what, executions] of recorded) {
        for (const [index, json] of executions.entries()) {
          const name = `${what}${executions.length > 1 ? `-${index + 1}` : ''}-${date}.json`;
          await writeFile(join(FOLDER, name), json);
          console.log(`${name} ${json.length} bytes`);
        }
      }
    });
    await client.connection.close();
    await connection.close();
    await store.close();
  } finally {
    await stack.stop();
    await rm(folder, { recursive: true, force: true });
  }
}

await main();
