/** What an activity does while the store does not answer: it waits, says so, and at last sends the output another way. */
import { randomBytes } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { unpackOutput } from '../../../src/activities/carried-output.ts';
import { createStoreWait, type WaitingCall } from '../../../src/activities/wait-for-store.ts';
import { defineTool } from '../../../src/define/define-tool.ts';
import { CAP } from '../../../src/protocol/caps.ts';
import type { Json } from '../../../src/protocol/json.ts';
import { request, succeeded, toolEnvironment } from '../../support/tool-environment.ts';

const away = Object.assign(new Error('Postgres cannot be reached'), { code: 'STORE_UNREACHABLE' });

function waitingCall(): WaitingCall & { beats: Json[]; stop(): void } {
  const stopping = new AbortController();
  const beats: Json[] = [];
  return {
    beats,
    stop: () => stopping.abort(),
    signal: stopping.signal,
    stopped: () => (stopping.signal.aborted ? 'shutdown' : null),
    heartbeat: (details = null) => void beats.push(details),
  };
}

const toolOf = (output: string) =>
  defineTool({
    name: 'tool',
    effect: 'side_effect',
    input: z.object({}).loose(),
    output: z.string(),
    run: () => output,
  });

describe('a wait for the store', () => {
  it('asks again until the store answers, and says in its heartbeats what it wants', async () => {
    const call = waitingCall();
    let asked = 0;
    const answer = await createStoreWait(call)('save the output of step 3', async () => {
      asked += 1;
      if (asked < 3) throw away;
      return 'saved';
    });
    expect([answer, asked]).toEqual(['saved', 3]);
    expect(call.beats).toEqual([
      { waiting_for_store: 'save the output of step 3' },
      { waiting_for_store: 'save the output of step 3' },
      null,
    ]);
  });

  it('ends when the attempt has to stop, long before its allowance', async () => {
    const call = waitingCall();
    const waiting = createStoreWait(call)('save', () => {
      queueMicrotask(() => call.stop());
      return Promise.reject(away);
    });
    await expect(waiting).rejects.toBe(away);
  });

  it('has one allowance for everything that an attempt asks of the store', async () => {
    const wait = createStoreWait(waitingCall(), 300);
    await expect(wait('read', () => Promise.reject(away))).rejects.toBe(away);
    let asked = 0;
    const again = wait('save', () => {
      asked += 1;
      return Promise.reject(away);
    });
    await expect(again).rejects.toBe(away);
    expect(asked).toBe(1);
  });

  it('does not wait for a store that refuses what it is given', async () => {
    const refused = Object.assign(new Error('no such column'), { code: '22001' });
    await expect(createStoreWait(waitingCall())('save', () => Promise.reject(refused))).rejects.toBe(refused);
  });
});

describe('a large output whose store stays away', () => {
  const storeIsAway = () => toolEnvironment({ saveArtifact: () => Promise.reject(away) });

  it('travels compressed in the outcome, and can be read from there', async () => {
    const output = `secret-free ${'x'.repeat(2_000_000)}`;
    const outcome = await succeeded(toolOf(output), request({}), storeIsAway());
    expect(outcome).toMatchObject({ output: null, inline: false });
    expect(outcome.unsaved).toBeUndefined();
    expect(unpackOutput(outcome)).toEqual({ id: outcome.artifact_id, text: JSON.stringify(output) });
  });

  it('is counted as lost when even compressed it does not fit into a result', async () => {
    const output = randomBytes(CAP.carriedBytes * 1.5).toString('base64');
    const outcome = await succeeded(toolOf(output), request({}), storeIsAway());
    expect(outcome).toMatchObject({ output: null, unsaved: true });
    expect(outcome.carried).toBeUndefined();
  });

  it('goes on waiting when it does not fit into a result, and is saved when the store is back after its allowance', async () => {
    const output = randomBytes(CAP.carriedBytes * 1.5).toString('base64');
    let asked = 0;
    const env = toolEnvironment({
      waitForStore: createStoreWait(waitingCall(), 1),
      saveArtifact: () => ((asked += 1) < 4 ? Promise.reject(away) : Promise.resolve()),
    });
    const outcome = await succeeded(toolOf(output), request({}), env);
    expect(asked).toBe(4);
    expect(outcome).toMatchObject({ output: null, inline: false });
    expect([outcome.unsaved, outcome.carried]).toEqual([undefined, undefined]);
  });

  it('is not believed under another name', () => {
    expect(unpackOutput({ artifact_id: 'a'.repeat(64), carried: 'bm90IGd6aXA=' })).toBeNull();
  });
});
