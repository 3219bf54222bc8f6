/** Keeps the start and the end of a stream in limited memory and drops what is between. */
export class HeadAndTail {
  readonly #limit: number;
  #head: Buffer[] = [];
  #headBytes = 0;
  #tail: Buffer[] = [];
  #tailBytes = 0;
  #bytes = 0;

  constructor(limit: number) {
    this.#limit = Math.max(2, limit);
  }

  push(chunk: Buffer): void {
    this.#bytes += chunk.length;
    const room = Math.ceil(this.#limit / 2) - this.#headBytes;
    if (room > 0) {
      const first = chunk.subarray(0, room);
      this.#head.push(first);
      this.#headBytes += first.length;
    }
    const rest = chunk.subarray(Math.max(0, room));
    if (rest.length > 0) this.#pushTail(rest);
  }

  #pushTail(chunk: Buffer): void {
    const most = Math.floor(this.#limit / 2);
    this.#tail.push(chunk);
    this.#tailBytes += chunk.length;
    for (let first = this.#tail[0]; first !== undefined && this.#tailBytes > most; first = this.#tail[0]) {
      const over = this.#tailBytes - most;
      if (first.length > over) this.#tail[0] = first.subarray(over);
      else this.#tail.shift();
      this.#tailBytes -= Math.min(first.length, over);
    }
  }

  /** The size of the whole stream. */
  get bytes(): number {
    return this.#bytes;
  }

  get leftOut(): number {
    return this.#bytes - this.#headBytes - this.#tailBytes;
  }

  get #mark(): string {
    return `\n… ${this.leftOut} bytes left out …\n`;
  }

  /** The kept bytes, with a mark where something was left out. */
  raw(): Buffer {
    const middle = this.leftOut > 0 ? [Buffer.from(this.#mark)] : [];
    return Buffer.concat([...this.#head, ...middle, ...this.#tail]);
  }

  /** The kept bytes as text. Invalid UTF-8 becomes U+FFFD. */
  text(): string {
    if (this.leftOut === 0) return new TextDecoder().decode(this.raw());
    // A character that was cut in the middle is left out, because a streaming decoder does not return incomplete ones.
    const head = new TextDecoder().decode(Buffer.concat(this.#head), { stream: true });
    const tail = Buffer.concat(this.#tail);
    let start = 0;
    while (start < 3 && ((tail[start] ?? 0) & 0xc0) === 0x80) start += 1;
    return head + this.#mark + new TextDecoder().decode(tail.subarray(start));
  }

  /** Whether the kept bytes are valid UTF-8. */
  get isText(): boolean {
    return !this.text().includes('\uFFFD');
  }
}
