/** Virtual time: a queue of events, ordered by time and then by when they were scheduled. */
interface Due {
  at: number;
  order: number;
  happen: () => void;
}

export class VirtualClock {
  now: number;
  #queue: Due[] = [];
  #asked = 0;

  constructor(startAt: number) {
    this.now = startAt;
  }

  /** Schedules an event and returns a function that cancels it. */
  in(ms: number, happen: () => void): () => void {
    const due = { at: this.now + ms, order: (this.#asked += 1), happen };
    let index = this.#queue.length;
    while (index > 0 && (this.#queue[index - 1]?.at ?? 0) > due.at) index -= 1;
    if (index === this.#queue.length) this.#queue.push(due);
    else this.#queue.splice(index, 0, due);
    return () => {
      const position = this.#queue.indexOf(due);
      if (position !== -1) this.#queue.splice(position, 1);
    };
  }

  /** Moves to the next event. Returns false if there is none. */
  advance(): boolean {
    const next = this.#queue.shift();
    if (next === undefined) return false;
    this.now = Math.max(this.now, next.at);
    next.happen();
    return true;
  }
}
