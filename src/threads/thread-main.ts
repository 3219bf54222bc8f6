import { parentPort } from 'node:worker_threads';
import { TASKS, type TaskReply, type TaskRequest } from './thread-tasks.ts';

/** The program of the thread: it answers one task after another. */
parentPort?.on('message', ({ id, name, text }: TaskRequest) => {
  parentPort?.postMessage(replyTo(id, name, text));
});

function replyTo(id: number, name: TaskRequest['name'], text: string): TaskReply {
  try {
    return { id, result: TASKS[name](text) };
  } catch (error) {
    return { id, error: error instanceof Error ? error.message : String(error) };
  }
}
