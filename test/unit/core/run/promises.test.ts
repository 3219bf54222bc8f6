/** Edge cases: budgets with parallel steps, questions of parallel steps, and unique ids across passes. */
import { describe, expect, it } from 'vitest';
import type { RunPorts } from '../../../../src/core/run/ports.ts';
import { openGuarded } from '../../../../src/core/run/guarded.ts';
import { openRun } from '../../../../src/core/run/state.ts';
import { receive } from '../../../../src/core/run/messages.ts';
import type { CallOutcome } from '../../../../src/protocol/tools.ts';
import { plainRegistry, prepared } from '../../../support/fixtures.ts';
import { everyRecord, failed, liveChoosing, succeeded } from './choosing-world.ts';
import { openQuestion, resultOfRun } from '../../../../src/core/run/life.ts';

const away = () => failed('HTTP_503', 'away', { category: 'server_error' });

describe('the budget of attempts', () => {
  it.each([4, 5, 6, 7, 9, 12])(
    'equal calls that wait for each other never exceed a budget of %i attempts',
    async (max_attempts) => {
      const { calls, result } = await liveChoosing({
        policy: { budget: { max_attempts }, retry: { server_error: 2, base_ms: 1 }, failures: { escalate_at: 50 } },
        plan: ({ turn }) => ({
          calls: turn <= 4 ? Array.from({ length: 6 }, () => ({ tool: 'look', input: { same: true } })) : [],
        }),
        call: ({ step_id, attempt }) => ((step_id + attempt) % 3 === 0 ? succeeded(step_id) : away()),
        more: {
          react: (shown, send) => {
            const id = shown.question?.question_id;
            if (id !== undefined) send(5, 'answer', { question_id: id, decision: 'retry', by: 'ada' });
          },
        },
      });
      expect(calls).toBeLessThanOrEqual(max_attempts);
      expect(result.used.attempts).toBe(calls);
    },
  );
});

/** Ports without an outside: time does not pass, and a wait ends at once unless its condition already holds. */
function guardedWorld(policy: object) {
  const run = prepared(
    { agent: 'plain', goal: 'x', policy, plan: { steps: [{ phase: 'work', tool: 'look', input: {} }] } },
    plainRegistry,
  );
  const state = openRun({ ...run, plan: null, bound: { ...run.bound, steps: 50, attempts: 120 } }, 0);
  const waiting = new Set<() => void>();
  const look = () => {
    for (const wake of Array.from(waiting)) wake();
  };
  const ports = {
    now: () => 0,
    until: (holds: () => boolean, _ms: number, why: string) =>
      new Promise<boolean>((resolve) => {
        const wake = () => {
          if (holds()) resolve(true);
        };
        if (why.startsWith('back-off')) resolve(false);
        waiting.add(wake);
        wake();
      }),
    recall: async () => [],
    notify: () => undefined,
    record: async () => ({ saved: true as const }),
    archive: async () => ({ saved: true as const }),
    publish: () => undefined,
    log: () => undefined,
  } as unknown as RunPorts;
  return { state, guarded: openGuarded(state, ports), look };
}
const step = (name: string) => ({ name, phase: 'work', effect: 'read' as const, input: { name } });
/** Lets all pending callbacks run. */
const quiet = () => new Promise<void>((resolve) => setImmediate(resolve));

describe('guarded steps side by side', () => {
  it('guarded steps that run in parallel share one budget', async () => {
    const { guarded, state } = guardedWorld({ budget: { max_attempts: 5 }, retry: { server_error: 4 } });
    let calls = 0;
    const perform = async (): Promise<CallOutcome> => {
      calls += 1;
      await Promise.resolve();
      return away();
    };
    const steps = ['a', 'b', 'c', 'd'].map((name) => guarded.step(step(name), perform));
    await Promise.race([Promise.all(steps), quiet()]);
    expect(calls).toBeLessThanOrEqual(5);
    expect(state.ledger.used.attempts).toBe(calls);
  });

  it('guarded steps ask one question at a time, and each answer applies to its own step', async () => {
    const { guarded, state, look } = guardedWorld({ retry: { server_error: 0 } });
    const ran: string[] = [];
    const perform = (name: string) => async (): Promise<CallOutcome> => {
      ran.push(name);
      return ran.filter((one) => one === name).length === 1
        ? failed('AUTH', 'no', { category: 'auth' })
        : succeeded(name);
    };
    const ends = Promise.all(['a', 'b'].map((name) => guarded.step(step(name), perform(name))));
    for (const decision of ['skip', 'retry'] as const) {
      await quiet();
      look();
      await quiet();
      const question = openQuestion(state);
      expect(question?.answer).toBeNull();
      if (question !== null) question.answer = { decision, text: null, by: 'ada' };
      look();
    }
    await quiet();
    look();
    expect(await ends).toEqual([{ kind: 'skipped' }, { kind: 'ok' }]);
    expect(ran).toEqual(['a', 'b', 'b']);
    expect(state.people.closed_questions).toHaveLength(2);
  });

  it('a guarded run ends with a system error when its workflow fails', async () => {
    const { guarded, state } = guardedWorld({});
    await guarded.close({ broke: 'the workflow failed: boom' });
    expect(resultOfRun(state)).toMatchObject({ outcome: 'system_error', reason: 'WORKFLOW_FAILED' });
  });
});

describe('records of turns', () => {
  it('records of planner turns have unique ids in every pass, even when no tool ever ran', async () => {
    const lived = await liveChoosing({
      policy: { retry: { server_error: 1, base_ms: 1 } },
      plan: ({ turn, attempt }) => (turn === 1 && attempt === 1 ? away() : { calls: [], output: 'nothing' }) as never,
      call: () => succeeded('never called'),
      more: { review: () => ({ alignment_score: 0, drift_score: 1 }) },
    });
    const ids = everyRecord(lived).map(({ failure_id }) => failure_id);
    expect(ids.length).toBeGreaterThan(0);
    expect(new Set(ids).size).toBe(ids.length);
    expect(lived.result.failures.total).toBe(ids.length);
  });
});

describe('a name that people give', () => {
  it('the name of a person is accepted up to its cap and refused beyond it', () => {
    const { state } = guardedWorld({});
    const body = (chars: number) => ({ text: 'fine', by: 'a'.repeat(chars) });
    expect(receive(state, 'feedback', body(128)).ok).toBe(true);
    expect(receive(state, 'feedback', body(129))).toMatchObject({ ok: false, problem: 'bad_body' });
  });
});

describe('what a run keeps for later', () => {
  it('evaluations are written before they would be dropped: 300 evaluated steps give 300 evaluations', async () => {
    const lived = await liveChoosing({
      policy: { budget: { max_steps: 250, max_attempts: 400, soft: 1, near: 1 } },
      steps: Array.from({ length: 250 }, (_, n) => ({ tool: 'checked', input: { n } })),
      call: ({ step_id }) => succeeded(step_id),
    });
    const batches = [...lived.records, ...lived.archives.map((archive) => archive.pending)];
    expect(batches.flatMap((batch) => batch.evaluations)).toHaveLength(250);
  });
});
