import { createRequire } from 'node:module';
import { setTimeout as sleep } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { Worker } from 'node:worker_threads';
import { type TaskName, type TaskReply, type TaskRequest, type TaskResult, TASKS } from './thread-tasks.ts';

/**
 * Texts up to this length are handled in place, because that takes a few milliseconds at most. A longer text would keep
 * the event loop busy, and heartbeats and requests of others would wait for it.
 */
const IN_PLACE_CHARS = 128 * 1024;

interface Waiting {
  resolve: (result: TaskResult<TaskName>) => void;
  reject: (error: Error) => void;
}

let thread: Worker | null = null;
let lastId = 0;
const waiting = new Map<number, Waiting>();

/** Runs a task on a text: in place if the text is short, otherwise in a thread that all callers share. */
export async function runTask<Name extends TaskName>(
  name: Name,
  text: string,
  maxBytes?: number,
): Promise<TaskResult<Name>> {
  if (text.length <= IN_PLACE_CHARS) return TASKS[name](text, maxBytes) as TaskResult<Name>;
  return (await askThread({ name, text, maxBytes })) as TaskResult<Name>;
}

/**
 * A request of others passes the event loop several times before it is answered. In a pause of this length it can be
 * answered whole; one turn of the loop would make it wait for the next piece of work again.
 */
const PAUSE_MS = 25;

/** Lets others have their turn between two pieces of work on a large text. */
export const pauseAfter = (text: string): Promise<void> | undefined =>
  text.length > IN_PLACE_CHARS ? sleep(PAUSE_MS) : undefined;

function askThread(task: Omit<TaskRequest, 'id'>): Promise<TaskResult<TaskName>> {
  return new Promise((resolve, reject) => {
    const worker = (thread ??= startThread());
    lastId += 1;
    waiting.set(lastId, { resolve, reject });
    // The process stays alive while somebody waits for an answer, and may end otherwise.
    worker.ref();
    worker.postMessage({ id: lastId, ...task } satisfies TaskRequest);
  });
}

function startThread(): Worker {
  const started = new Worker(...programOfThread());
  started.unref();
  started.on('message', (reply: TaskReply) => {
    const asked = waiting.get(reply.id);
    waiting.delete(reply.id);
    if (waiting.size === 0) started.unref();
    if ('error' in reply) asked?.reject(new Error(reply.error));
    else asked?.resolve(reply.result);
  });
  // A thread that ends, for example because it ran out of memory, fails what it was asked; the next task starts another.
  const end = (error: Error): void => {
    if (thread === started) thread = null;
    const failed = [...waiting.values()];
    waiting.clear();
    for (const { reject } of failed) reject(error);
  };
  started.on('error', end);
  started.on('exit', (code) => end(new Error(`the thread for large values ended with code ${code}`)));
  return started;
}

/** The sources run through tsx, which a thread has to load for itself; the published package is plain JavaScript. */
function programOfThread(): ConstructorParameters<typeof Worker> {
  if (!import.meta.url.endsWith('.ts')) return [new URL('./thread-main.js', import.meta.url)];
  const loader = pathToFileURL(createRequire(import.meta.url).resolve('tsx'));
  const tsx = new URL('./esm/api/index.mjs', loader).href;
  const main = new URL('./thread-main.ts', import.meta.url).href;
  return [`import('${tsx}').then(({ register }) => { register(); return import('${main}'); });`, { eval: true }];
}
