/** What a turn sends to people who watch it, with a store that the test controls. Times are those of the real clock. */
import { describe, expect, it } from 'vitest';
import { sendDeltas } from '../../../src/activities/send-deltas.ts';
import type { DeltaPort } from '../../../src/activities/store-port.ts';
import { createRedactor } from '../../../src/core/redaction/redact.ts';
import type { PlannerView } from '../../../src/core/run/ports.ts';
import { encodedBytes } from '../../../src/core/transcript/shorten-to-bytes.ts';
import type { ModelDelta } from '../../../src/protocol/model-delta.ts';

const view = { run_id: 'run-1', loop_id: 'loop_run-1', turn: 2, attempt: 1 } as PlannerView;
const TOKEN = `ghp_${'a1B2c3D4'.repeat(5)}`;

function portOf(isWatched: () => boolean | Promise<boolean>): DeltaPort & { asked: number; sent: ModelDelta[][] } {
  const port = {
    asked: 0,
    sent: [] as ModelDelta[][],
    isWatched: async () => {
      port.asked += 1;
      return isWatched();
    },
    send: async (_run: string, deltas: readonly ModelDelta[]) => void port.sent.push([...deltas]),
  };
  return port;
}
const open = (port: DeltaPort) => sendDeltas(port, view, { redact: createRedactor(), holdChars: 0, now: Date.now });
const textOf = (sent: ModelDelta[][]): string =>
  sent
    .flat()
    .map(({ text }) => text)
    .join('');

describe('the deltas of a turn', () => {
  it('are merged, redacted over the borders of pieces, numbered and small', async () => {
    const port = portOf(() => true);
    const deltas = open(port);
    const words = `The key is ${TOKEN} and ${'so on '.repeat(3_000)}`;
    for (let at = 0; at < words.length; at += 7) deltas.push({ kind: 'text', text: words.slice(at, at + 7) });
    deltas.push({ kind: 'tool_call', call_id: 'call_1', tool: 'fs.read', text: '{}' });
    await expect.poll(() => port.sent.length).toBeGreaterThan(0);
    await deltas.end(true);
    const all = port.sent.flat();
    expect(textOf(port.sent.map((list) => list.filter(({ kind }) => kind === 'text')))).toBe(
      words.replace(TOKEN, '[redacted:github_token]'),
    );
    expect(all.at(-1)).toMatchObject({ kind: 'tool_call', tool: 'fs.read', text: '{}', turn: 2, final: false });
    expect(all.map(({ seq }) => seq)).toEqual(all.map((_, index) => index + 1));
    expect(Math.max(...all.map(({ text }) => encodedBytes(text)))).toBeLessThanOrEqual(3_000);
    // Some 2,600 pieces within less than a second.
    expect(port.sent.length).toBeLessThan(30);
  });

  it('are not sent while nobody watches, and are sent from the beginning to somebody who comes later', async () => {
    let isWatched = false;
    const port = portOf(() => isWatched);
    const deltas = open(port);
    deltas.push({ kind: 'text', text: 'Half of the answer ' });
    await expect.poll(() => port.asked).toBe(1);
    expect(port.sent).toEqual([]);
    isWatched = true;
    await expect.poll(() => textOf(port.sent), { timeout: 10_000 }).toBe('Half of the answer ');
    await deltas.end(true);
  });

  it('of an incomplete answer do not show what was held back', async () => {
    const port = portOf(() => true);
    const deltas = open(port);
    deltas.push({ kind: 'text', text: `The key is ${TOKEN.slice(0, 20)}` });
    await expect.poll(() => textOf(port.sent)).toBe('The key is ');
    await deltas.end(false);
    expect(textOf(port.sent)).toBe('The key is ');
  });

  it('never fail or delay the turn, whatever the store does', async () => {
    const away = portOf(() => Promise.reject(new Error('the store is away')));
    const stuck = portOf(() => new Promise<boolean>(() => undefined));
    const [failing, hanging] = [open(away), open(stuck)];
    for (const deltas of [failing, hanging]) deltas.push({ kind: 'text', text: 'some words ' });
    await expect.poll(() => [away.asked, stuck.asked]).toEqual([1, 1]);
    const began = performance.now();
    await Promise.all([failing.end(true), hanging.end(true)]);
    // It waits for a quarter of a second. A busy machine may take longer, a store that hangs takes for ever.
    expect(performance.now() - began).toBeLessThan(10_000);
  });
});
