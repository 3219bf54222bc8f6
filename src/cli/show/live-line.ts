import { cut, oneLine } from './terminal-text.ts';

interface Terminal {
  isTTY?: boolean;
  columns?: number;
  write(text: string): unknown;
}

const FRAMES = ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏'];
const FRAME_MS = 120;
const BACK_AND_CLEAR = '\r\u001b[2K';

/** The last line of a terminal, which shows what the run does right now. Without a terminal it prints nothing. */
export class LiveLine {
  readonly #to: Terminal;
  readonly #began = performance.now();
  #text = '';
  #frame = 0;
  #timer: ReturnType<typeof setInterval> | undefined;

  constructor(to: Terminal = process.stderr) {
    this.#to = to;
  }

  show(text: string): void {
    this.#text = oneLine(text);
    if (!this.#to.isTTY) return;
    this.#draw();
    this.#timer ??= setInterval(() => this.#draw(), FRAME_MS).unref();
  }

  /** Clears the line, so that a permanent line can be printed above it. */
  above(write: () => void): void {
    if (this.#timer !== undefined) this.#to.write(BACK_AND_CLEAR);
    write();
    if (this.#timer !== undefined) this.#draw();
  }

  end(): void {
    if (this.#timer === undefined) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
    this.#to.write(BACK_AND_CLEAR);
  }

  #draw(): void {
    this.#frame = (this.#frame + 1) % FRAMES.length;
    const seconds = Math.floor((performance.now() - this.#began) / 1000);
    const line = `${FRAMES[this.#frame]} ${this.#text} · ${seconds} s`;
    this.#to.write(`${BACK_AND_CLEAR}${cut(line, (this.#to.columns || 80) - 1)}`);
  }
}
