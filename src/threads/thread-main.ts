import { parentPort } from 'node:worker_threads';
import { TASKS, type TaskReply, type TaskRequest } from './thread-tasks.ts';

/** The program of the thread: it answers one task after another. */
parentPort?.on('message', (request: TaskRequest) => {
  parentPort?.postMessage(replyTo(request));
});

function replyTo({ id, name, text, maxBytes }: TaskRequest): TaskReply {
  try {
    return { id, result: TASKS[name](text, maxBytes) };
  } catch (error) {
    return { id, error: error instanceof Error ? error.message : String(error) };
  }
}
