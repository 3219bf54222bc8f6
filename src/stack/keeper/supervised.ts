import { StackError, messageOf } from '../stack-error.ts';
import type { ProcessGroup, StopSteps } from '../machine/process-group.ts';

export interface SupervisedOptions {
  name: string;
  /** Starts the part on the same ports as before, and resolves when it answers. */
  launch: () => Promise<ProcessGroup>;
  progress: (line: string) => void;
  /** Called when the part has failed too often. */
  onGivenUp: (error: StackError) => void;
  maxRestarts?: number;
  windowMs?: number;
  /**
   * Multiplied by the number of the restart, because the backends of a killed Postgres need time to release its memory.
   */
  pauseMs?: number;
}

/**
 * A part that is restarted when it ends unexpectedly, up to a limit, because a part that fails at once each time needs
 * a person.
 */
export class Supervised {
  readonly #options: Required<SupervisedOptions>;
  readonly #deaths: number[] = [];
  #group: ProcessGroup | undefined;
  #stopping = false;

  constructor(options: SupervisedOptions) {
    this.#options = { maxRestarts: 3, windowMs: 60_000, pauseMs: 200, ...options };
  }

  /** Takes over a part that is already running. */
  watch(group: ProcessGroup): void {
    this.#group = group;
    void group.exited.then(({ code, signal }) => {
      if (this.#stopping) return undefined;
      return this.#restart(`ended unexpectedly (${signal ?? `exit code ${code}`})`);
    });
  }

  async stop(steps: StopSteps): Promise<void> {
    this.#stopping = true;
    await this.#group?.stop(steps);
  }

  async #restart(why: string): Promise<void> {
    const { name, progress, launch, maxRestarts, windowMs, pauseMs } = this.#options;
    const now = Date.now();
    this.#deaths.push(now);
    const recent = this.#deaths.filter((at) => now - at < windowMs).length;
    if (recent > maxRestarts) {
      this.#giveUp(why);
      return;
    }
    progress(`${name} ${why}, starting it again (${recent} of ${maxRestarts})`);
    await new Promise((resolve) => setTimeout(resolve, pauseMs * recent));
    if (this.#stopping) return;
    try {
      const group = await launch();
      this.watch(group);
      if (this.#stopping) group.kill();
      else progress(`${name} is back`);
    } catch (error) {
      if (!this.#stopping) await this.#restart(`did not start again (${messageOf(error)})`);
    }
  }

  #giveUp(why: string): void {
    const { name, maxRestarts, windowMs, onGivenUp } = this.#options;
    onGivenUp(
      new StackError(
        name === 'Postgres' ? 'postgres_failed' : 'temporal_failed',
        `${name} ${why}, after ${maxRestarts} restarts within ${windowMs / 1000} s.`,
        `Look at its log in the folder logs/ of the data folder, then start the stack again.`,
      ),
    );
  }
}
