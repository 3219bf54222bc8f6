import type { ChildProcess } from 'node:child_process';
import { endDemoWorker } from './worker-process.ts';

/** The current worker. The demo kills it and starts another. */
export class DemoWorkers {
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
