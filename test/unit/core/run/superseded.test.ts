/** A failure that a person supersedes while its run goes on. Virtual time. */
import { describe, expect, it } from 'vitest';
import { fingerprintOf } from '../../../../src/core/failures/fingerprint.ts';
import { apply, receive } from '../../../../src/core/run/messages.ts';
import { openRun } from '../../../../src/core/run/state.ts';
import type { Json } from '../../../../src/protocol/json.ts';
import type { ToolCallRequest } from '../../../../src/protocol/tools.ts';
import { plainRegistry, prepared } from '../../../support/fixtures.ts';
import { failed, liveChoosing, succeeded } from './choosing-world.ts';

const SLOW = fingerprintOf({
  signal_type: 'tool_error',
  tool_name: 'look',
  error_code: 'TIMEOUT',
  message: 'too slow',
});
const slow = () => failed('TIMEOUT', 'too slow', { category: 'timeout' });

/** The first attempts fail. The message, if any, arrives during the first backoff. */
async function live(failures: number, body: Json | null) {
  const requests: ToolCallRequest[] = [];
  let isSent = false;
  const lived = await liveChoosing({
    steps: [{ tool: 'look', input: {} }],
    policy: { retry: { base_ms: 1_000, timeout: 4 } },
    call: (request) => {
      requests.push(request);
      return requests.length <= failures ? slow() : succeeded('at last');
    },
    more: {
      react: (_shown, send) => {
        if (!isSent && body !== null) send(100, 'supersede', body);
        isSent = true;
      },
    },
  });
  const seen = requests.map(({ guidance, constraints }) => [
    guidance.rows.length,
    constraints.timeout_ms !== undefined,
  ]);
  return { ...lived, seen };
}
const body = { fingerprint: SLOW, by: 'ada', reason: 'a new server' };

describe('a failure that a person supersedes', () => {
  it('leads to no guidance and no constraint of the next attempt, also while its step is backing off', async () => {
    const first = [0, false];
    expect((await live(1, null)).seen).toEqual([first, [1, true]]);
    const { seen, state } = await live(1, body);
    expect(seen).toEqual([first, first]);
    expect(state.failures.by_fingerprint).toMatchObject([{ fingerprint: SLOW, status: 'superseded' }]);
  });

  it('is active again when it occurs again', async () => {
    const { seen } = await live(2, body);
    expect(seen).toEqual([
      [0, false],
      [0, false],
      [1, true],
    ]);
  });

  it('changes nothing when its fingerprint is unknown, and the answer says so', () => {
    const plan = { steps: [{ phase: 'work', tool: 'look', input: {} }] };
    const state = openRun(prepared({ agent: 'plain', goal: 'Look', plan }, plainRegistry), 0);
    const received = receive(state, 'supersede', body);
    if (!received.ok) throw new Error(received.problem);
    expect(apply(state, received.message, 0)).toEqual({
      accepted: false,
      fingerprint: SLOW,
      reason: 'this run has no failure with this fingerprint',
    });
  });
});
