/** Unavailable stores, large states and cancels, in the simulated world with virtual time. */
import { describe, expect, it } from 'vitest';
import { sha256Hex } from '../../../../src/protocol/ids.ts';
import { CAP } from '../../../../src/protocol/caps.ts';
import type { CallFailed, CallOutcome, ToolCallRequest } from '../../../../src/protocol/tools.ts';
import { simulateRun } from '../../../../src/testing/simulator/simulate-run.ts';
import { plainRegistry, prepared } from '../../../support/fixtures.ts';
import { resultOfRun } from '../../../../src/core/run/life.ts';
import type { RunState } from '../../../../src/core/run/state.ts';
import { liveChoosing, succeeded } from './choosing-world.ts';
import { statusOf } from '../../../../src/core/run/status.ts';

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
  it('an unavailable store stops no retry, and the result says how much could not be saved', async () => {
    const world = {
      call: (request: ToolCallRequest) => (request.attempt < 3 ? refused : ok(request)),
      storeIsUp: () => false,
    };
    const { state, records } = await simulateRun(run(2), { world });
    expect(resultOfRun(state)).toMatchObject({
      outcome: 'completed',
      used: { attempts: 6 },
      unsaved: { records: 4, outputs: 2, archive: true },
    });
    expect(records).toEqual([]);
  });

  it('an output that is lost is counted apart from those that are written later, and the planner is told', async () => {
    const lost = { ...succeeded('1'), output: null, inline: false, unsaved: true as const };
    const seen: unknown[] = [];
    const { result, state } = await liveChoosing({
      plan: ({ steps, turn }) => {
        seen.push(...steps);
        return turn === 1 ? { calls: [{ tool: 'look', input: {} }] } : { calls: [], output: 'done' };
      },
      call: () => lost,
    });
    expect(result.unsaved).toEqual({ records: 0, outputs: 0, archive: false, lost: 1 });
    expect(statusOf(state).unsaved).toMatchObject({ lost: 1 });
    expect(seen).toEqual([expect.objectContaining({ status: 'ok', known: expect.stringMatching(/3 bytes is lost/) })]);
    expect(seen[0]).not.toHaveProperty('artifact_id');
  });

  it('a store that becomes available again gets every record exactly once', async () => {
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
    expect(resultOfRun(state)?.unsaved).toEqual({ records: 0, outputs: 0, archive: false });
  });
});

describe('a store that is away during many failures', () => {
  it('gets every record once it is back, however many there were', async () => {
    let isUp = false;
    const world = {
      call: (request: ToolCallRequest) => {
        isUp = request.step_id === 20;
        return request.attempt < 4 ? refused : ok(request);
      },
      storeIsUp: () => isUp,
    };
    const { state, records, archives } = await simulateRun(run(20), { world });
    const batches = [...records, ...archives.map((archive) => archive.pending)];
    const written = new Set(batches.flatMap((batch) => batch.records.map((record) => record.failure_id)));
    expect(written.size).toBe(60);
    expect(Math.max(...batches.map((batch) => batch.records.length))).toBeLessThanOrEqual(CAP.outboxRecords);
    expect(resultOfRun(state)?.unsaved).toEqual({ records: 0, outputs: 0, archive: false });
  });

  it('says meanwhile how much is not saved', async () => {
    const seen: unknown[] = [];
    const world = {
      call: (request: ToolCallRequest) => (request.attempt < 4 ? refused : ok(request)),
      storeIsUp: () => false,
      react: () => undefined,
    };
    const { state, archivesLater } = await simulateRun(run(10), {
      world,
      handOverShare: 1,
      onHandOver: (text) => seen.push(statusOf(JSON.parse(text) as RunState).unsaved),
    });
    expect(seen[0]).toEqual({ records: 3, outputs: 0, archive: false });
    expect(statusOf(state).unsaved).toEqual({ records: 30, outputs: 10, archive: true, why: 'the store is away' });
    expect(archivesLater).toHaveLength(1);
  });
});

describe('the state of a run', () => {
  it('the state of a run stays within its cap when every step has the largest inline output', async () => {
    const large = 'x'.repeat(CAP.inlineOutputBytes - 10);
    const world = {
      call: (request: ToolCallRequest) => ok(request, `${request.step_id}${large}`.slice(0, CAP.inlineOutputBytes - 4)),
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
    expect(largest).toBeLessThan(CAP.stateBytes);
    expect(resultOfRun(simulated.state)).toMatchObject({ outcome: 'completed' });
  });
});

describe('a cancel', () => {
  it('a cancel during a call, a backoff or a question ends the run at once and names the person and the reason', async () => {
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
      expect(resultOfRun(state)).toMatchObject({ outcome: 'cancelled', why: 'ada cancelled the run: enough' });
      expect(Date.parse(resultOfRun(state)?.ended_at ?? '') - Date.parse(resultOfRun(state)?.started_at ?? '')).toBe(
        50,
      );
    }
  });
});

describe('a wide batch', () => {
  it('a step that fails late in a wide batch gets the attempts that parallel steps did not use', async () => {
    const steps = Array.from({ length: 30 }, () => ({ phase: 'work', tool: 'look', input: {}, after: [] }));
    const wide = prepared({ agent: 'plain', goal: 'g', plan: { steps } }, plainRegistry);
    const call = (request: ToolCallRequest) => (request.step_id === 25 && request.attempt < 3 ? refused : ok(request));
    const { state } = await simulateRun(wide, { world: { call } });
    expect(resultOfRun(state)).toMatchObject({ outcome: 'completed', used: { attempts: 32 } });
  });
});

describe('what a run tells about its steps', () => {
  it('the archive lists a step that ended with the budget', async () => {
    const { archives } = await simulateRun(run(1, 'look', { budget: { max_attempts: 2 } }), {
      world: { call: () => refused },
    });
    expect(archives[0]?.steps).toMatchObject([{ step_id: 1, status: 'failed', attempts: 2 }]);
  });

  it('the ending of a cancelled run says that a side effect under way may have happened', async () => {
    const { state, archives } = await simulateRun(run(1, 'pay'), {
      world: {
        call: (request) => ({ ...ok(request), duration_ms: 100_000 }),
        react: (shown, send) => shown.state === 'running' && send(50, 'cancel_run', { by: 'ada' }),
      },
    });
    expect(archives[0]?.steps).toMatchObject([{ step_id: 1, status: 'cancelled' }]);
    expect(resultOfRun(state)?.why).toBe(
      'ada cancelled the run; step 1 (pay) was under way and may have had its effect',
    );
  });
});

describe('an approval that nobody can be asked for', () => {
  it('an approval that nobody can be asked for is refused by the policy and not as denied by a person', async () => {
    const world = { call: (request: ToolCallRequest) => ok(request) };
    const stopped = await simulateRun(run(1, 'launch', { humans: { max_questions: 0 } }), { world });
    expect(resultOfRun(stopped.state)).toMatchObject({ outcome: 'finalized', reason: 'no_question_left' });
    const denied = await simulateRun(run(1, 'launch', { humans: { max_questions: 0, default: 'deny' } }), { world });
    expect(denied.archives[0]?.steps).toMatchObject([{ status: 'policy', attempts: 0 }]);
  });
});

describe('a question that nobody answers', () => {
  it('a question without an answer goes to each person of the chain for the same time before the default decides', async () => {
    const policy = { humans: { deadline_ms: 1_000, chain: ['lead', 'owner'] } };
    const { state, logs } = await simulateRun(run(1, 'look', policy), {
      world: { call: () => ({ ...refused, category: 'auth' }) },
    });
    const asked = logs.map((event) => event.event).filter((event) => event.startsWith('question_'));
    expect(asked).toEqual(['question_asked', 'question_escalated', 'question_escalated', 'question_timed_out']);
    expect(state.ledger.human_wait_ms).toBe(3_000);
  });
});

describe('a planner that reports what is no count', () => {
  it.each([Number.NaN, -1, 0.5])(
    'a planner that reports %d tokens is sent back, and the budget stays unchanged',
    async (tokens) => {
      const chooser = prepared({ agent: 'chooser', goal: 'g' }, plainRegistry);
      const plan = () => ({ class: 'ok' as const, calls: [], tokens, cost_micro_usd: 0, duration_ms: 1 });
      const { state } = await simulateRun(chooser, { world: { call: () => refused, plan } });
      expect(resultOfRun(state)).toMatchObject({
        outcome: 'system_error',
        reason: 'INVALID_PLAN',
        used: { tokens: 0 },
      });
    },
  );
});

describe('a budget of seconds', () => {
  it('a budget of seconds ends the run before a wait that would exceed it', async () => {
    const { state } = await simulateRun(run(1, 'look', { budget: { max_seconds: 2 } }), {
      world: { call: () => refused },
    });
    expect(resultOfRun(state)).toMatchObject({ outcome: 'budget_exhausted', reason: 'seconds' });
    expect(resultOfRun(state)?.used.seconds).toBeLessThanOrEqual(2);
  });

  it('a budget of seconds does not count the time that a person took', async () => {
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
    expect(resultOfRun(state)).toMatchObject({ outcome: 'completed', used: { seconds: 0 } });
  });
});
