/** The order of shutdown: no new requests first, then the work, then what the work depends on. */
const ORDER = ['proxy', 'api', 'worker', 'client', 'store', 'telemetry', 'stack'] as const;
export type PartName = (typeof ORDER)[number];

/** The services that were started. They stop in a fixed order, independent of the order of their start. */
export class Parts {
  readonly #stops = new Map<PartName, () => Promise<unknown>>();
  readonly #say: (line: string) => void;

  constructor(say: (line: string) => void) {
    this.#say = say;
  }

  add(name: PartName, stop: () => Promise<unknown>): void {
    this.#stops.set(name, stop);
  }

  /** `hurry` stops waiting for services that are still stopping, except for the stack, because it holds the data. */
  async stop(hurry: AbortSignal): Promise<void> {
    const hurried = new Promise<void>((resolve) => hurry.addEventListener('abort', () => resolve(), { once: true }));
    for (const name of ORDER) {
      const stop = this.#stops.get(name);
      if (stop === undefined || (hurry.aborted && name !== 'stack')) continue;
      const ended = stop().catch((error: unknown) => this.#say(`The ${name} did not stop cleanly: ${String(error)}`));
      await (name === 'stack' ? ended : Promise.race([ended, hurried]));
    }
  }
}
