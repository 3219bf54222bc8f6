import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { extname } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { DemoWorkerOptions } from './demo-worker.ts';

const EXTENSION = extname(fileURLToPath(import.meta.url));
const SCRIPT = fileURLToPath(new URL(`./demo-worker${EXTENSION}`, import.meta.url));

/** Starts a worker process and waits until it polls for tasks. */
export async function startDemoWorker(options: DemoWorkerOptions): Promise<ChildProcess> {
  const child = fork(SCRIPT, [JSON.stringify(options)], {
    // When running from source, the child needs the same loader.
    execArgv: EXTENSION === '.ts' ? ['--import', 'tsx'] : [],
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });
  await Promise.race([
    once(child, 'message'),
    once(child, 'exit').then(([code]) => Promise.reject(new Error(`the demo's worker ended with ${code}`))),
  ]);
  return child;
}

export async function endDemoWorker(child: ChildProcess, signal: 'SIGTERM' | 'SIGKILL'): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, 'exit');
  child.kill(signal);
  await ended;
}
