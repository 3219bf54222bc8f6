import { createHash } from 'node:crypto';

/** One real command whose output becomes one sample. `files` are written into a fresh folder before it runs. */
export type ToolCase = {
  id: string;
  command: string;
  files?: Record<string, string>;
  /** Runs before the command; its output is not kept. */
  setup?: string;
};

export const file = (id: string, name: string, body: string, command: string): ToolCase => ({
  id,
  command,
  files: { [name]: body },
});

export const plain = (id: string, command: string, setup?: string): ToolCase => ({
  id,
  command,
  ...(setup === undefined ? {} : { setup }),
});

export const python = (id: string, body: string): ToolCase => file(id, 'main.py', body, 'python3 main.py');
export const node = (id: string, body: string): ToolCase => file(id, 'main.mjs', body, 'node main.mjs');

/** A third is held out, chosen only by the hash of the text, so that nobody can influence the split. */
export const heldOut = (text: string): boolean =>
  BigInt(`0x${createHash('sha256').update(text).digest('hex')}`) % 3n === 0n;
