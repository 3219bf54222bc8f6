import { createRedactor } from '../redaction/redact.ts';
import { plainText } from '../stuck/call-features.ts';
import { failureLine } from '../stuck/result-text.ts';

/** A call of a loop, as evidence for the person who reads the report. */
export interface CallExample {
  call: number;
  tool: string;
  input: string;
  answer: string;
}

interface KeptCall {
  call: number;
  tool: string;
  input: unknown;
  text: string;
}

/** The rules look at fewer calls, so every call of a verdict is still here. */
const KEPT = 32;
const KEPT_CHARS = 1000;
const PREVIEW_CHARS = 120;

const redact = createRedactor();

const preview = (text: string): string => {
  const line = redact(text.slice(0, KEPT_CHARS)).replaceAll(/\s+/g, ' ').trim();
  return line.length > PREVIEW_CHARS ? `${line.slice(0, PREVIEW_CHARS)}…` : line;
};

/** Remembers how each call ended, and the latest calls with their texts. */
export class CallTrail {
  /** By the number of the call: the fingerprint of its failure, null if it did not fail, undefined without an answer. */
  readonly ends: (string | null | undefined)[] = [];
  readonly #latest: KeptCall[] = [];

  add(call: number, tool: string, input: unknown, text: string, end: string | null | undefined): void {
    this.ends[call] = end;
    this.#latest.push({ call, tool, input, text: text.slice(0, 2 * KEPT_CHARS) });
    if (this.#latest.length > KEPT) this.#latest.shift();
  }

  /** The first, the second and the last of the calls that show a loop. */
  examples(calls: readonly number[]): CallExample[] {
    const found = this.#latest.filter(({ call }) => calls.includes(call));
    const shown = found.length <= 3 ? found : [...found.slice(0, 2), ...found.slice(-1)];
    return shown.map(({ call, tool, input, text }) => {
      const said = this.ends[call] === null ? text : failureLine(text) || text;
      return { call, tool, input: preview(plainText(input)), answer: preview(said) };
    });
  }
}
