/** Stores that stay away, states that would grow, people who cancel: the story alone, in virtual time. */
import { describe, expect, it } from 'vitest';
import { sha256Hex } from '../../../../src/protocol/ids.ts';
import { LIMIT } from '../../../../src/protocol/limits.ts';
import type { CallFailed, CallOutcome, ToolCallRequest } from '../../../../src/protocol/tools.ts';
import { simulateRun } from '../../../../src/simulator/simulate-run.ts';
import { plainRegistry, prepared } from '../../../support/fixtures.ts';

const refused: CallFailed = {
  class: 'failed',
  certainty: 'failed',
  origin: 'tool',
  category: 'server_error',
  error_code: 'HTTP_503',
  message_preview: 'away',
  duration_ms: 5,
};
const ok = (request: ToolCallRequest, output = `${request.step_id}`): CallOutcome => {
  const text = JSON.stringify(output);
  return { class: 'ok', output, inline: true, artifact_id: sha256Hex(text), bytes: text.length, duration_ms: 5 };
};
const plan = (count: number, tool = 'look') => ({
  steps: Array.from({ length: count }, () => ({ phase: 'work', tool, input: {} })),
});
const run = (steps: number, tool = 'look', policy = {}) =>
  prepared({ agent: 'plain', goal: 'g', plan: plan(steps, tool), policy }, plainRegistry);

describe('a store that stays away', () => {
  it('stops no retry, and the run says at its end what it could not save', async () => {
    const world = {
      call: (request: ToolCallRequest) => (request.attempt < 3 ? refused : ok(request)),
      storeIsUp: () => false,
    };
    const { state, records } = await simulateRun(run(2), { world });
    expect(state.result).toMatchObject({
      outcome: 'completed',
      used: { attempts: 6 },
      unsaved: { records: 4, archive: true },
    });
    expect(records).toEqual([]);
  });

  it('and comes back gets every record exactly once', async () => {
    let asked = 0;
    const world = {
      call: (request: ToolCallRequest) => (request.attempt < 4 ? refused : ok(request)),
      storeIsUp: () => (asked += 1) > 2,
    };
    const { state, records, archives } = await simulateRun(run(2), { world });
    const batches = [...records, ...archives.map((archive) => archive.pending)];
    const written = batches.flatMap((batch) => batch.records.map((record) => record.failure_id));
    expect(new Set(written).size).toBe(6);
    expect(written).toHaveLength(6);
    expect(state.result?.unsaved).toEqual({ records: 0, archive: false });
  });
});

describe('the state of a run', () => {
  it('stays within its cap when every step has the largest output that travels', async () => {
    const large = 'x'.repeat(LIMIT.inlineOutputBytes - 10);
    const world = {
      call: (request: ToolCallRequest) =>
        ok(request, `${request.step_id}${large}`.slice(0, LIMIT.inlineOutputBytes - 4)),
    };
    let largest = 0;
    const watching = { ...world, react: () => undefined };
    const simulated = await simulateRun(run(50), {
      world: watching,
      handOverShare: 1,
      seed: 3,
      onHandOver: (text) => (largest = Math.max(largest, text.length)),
    });
    expect(simulated.handOvers).toBeGreaterThan(10);
    expect(largest).toBeLessThan(LIMIT.stateBytes);
    expect(simulated.state.result).toMatchObject({ outcome: 'completed' });
  });
});

describe('a cancel', () => {
  it('during a call, a back-off or a question ends the run at once, with who and why', async () => {
    const during = async (world: Parameters<typeof simulateRun>[1]['world'], tool = 'look') =>
      simulateRun(run(1, tool), {
        world: {
          ...world,
          react: (shown, send) => shown.state === 'running' && send(50, 'cancel_run', { by: 'ada', reason: 'enough' }),
        },
      });
    const call = await during({ call: (request) => ({ ...ok(request), duration_ms: 100_000 }) });
    const backOff = await during({ call: () => refused });
    const question = await during({ call: () => ({ ...refused, category: 'auth' }) });
    for (const { state } of [call, backOff, question]) {
      expect(state.result).toMatchObject({ outcome: 'cancelled', why: 'ada cancelled the run: enough' });
      expect(Date.parse(state.result?.ended_at ?? '') - Date.parse(state.result?.started_at ?? '')).toBe(50);
    }
  });
});

describe('a budget of seconds', () => {
  it('ends the run before a wait that would outlast it', async () => {
    const { state } = await simulateRun(run(1, 'look', { budget: { max_seconds: 2 } }), {
      world: { call: () => refused },
    });
    expect(state.result).toMatchObject({ outcome: 'budget_exhausted', reason: 'seconds' });
    expect(state.result?.used.seconds).toBeLessThanOrEqual(2);
  });

  it('does not count the time that a person took', async () => {
    const world = {
      call: (request: ToolCallRequest) =>
        request.attempt === 1 ? { ...refused, category: 'auth' as const } : ok(request),
      react: (
        shown: { question: { question_id: string } | null },
        send: (ms: number, type: 'answer', body: unknown) => void,
      ) => {
        if (shown.question)
          send(3_600_000, 'answer', { question_id: shown.question.question_id, decision: 'retry', by: 'ada' });
      },
    };
    const { state } = await simulateRun(run(1, 'look', { budget: { max_seconds: 2 } }), { world });
    expect(state.result).toMatchObject({ outcome: 'completed', used: { seconds: 0 } });
  });
});
