/** First nobody gets in, then the work ends, and what it stands on goes last. */
const ORDER = ['api', 'worker', 'client', 'store', 'telemetry', 'stack'] as const;
export type PartName = (typeof ORDER)[number];

/** What was started, to be ended in the right order whatever the order of starting was. */
export class Parts {
  readonly #stops = new Map<PartName, () => Promise<unknown>>();
  readonly #say: (line: string) => void;

  constructor(say: (line: string) => void) {
    this.#say = say;
  }

  add(name: PartName, stop: () => Promise<unknown>): void {
    this.#stops.set(name, stop);
  }

  /** `hurry` leaves everything behind that is still ending, except the stack: it holds the data. */
  async stop(hurry: AbortSignal): Promise<void> {
    const hurried = new Promise<void>((resolve) => hurry.addEventListener('abort', () => resolve(), { once: true }));
    for (const name of ORDER) {
      const stop = this.#stops.get(name);
      if (stop === undefined || (hurry.aborted && name !== 'stack')) continue;
      const ended = stop().catch((error: unknown) => this.#say(`The ${name} did not end well: ${String(error)}`));
      await (name === 'stack' ? ended : Promise.race([ended, hurried]));
    }
  }
}
