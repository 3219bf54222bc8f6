/** Runs in the simulated world, without Temporal, clock or store. */
import { describe, expect, it } from 'vitest';
import { simulateRun, type World } from '../../../../src/testing/simulator/simulate-run.ts';
import { sha256Hex } from '../../../../src/protocol/ids.ts';
import type { CallFailed, CallOutcome, ToolCallRequest } from '../../../../src/protocol/tools.ts';
import { plainRegistry, prepared } from '../../../support/fixtures.ts';
import { resultOfRun } from '../../../../src/core/run/life.ts';

const ok = (request: ToolCallRequest): CallOutcome => {
  const text = JSON.stringify(request.step_id);
  return {
    class: 'ok',
    output: request.step_id,
    inline: true,
    artifact_id: sha256Hex(text),
    bytes: text.length,
    duration_ms: 5,
  };
};
const failed = (over: Partial<CallFailed> = {}): CallFailed => ({
  class: 'failed',
  certainty: 'failed',
  origin: 'tool',
  category: 'server_error',
  error_code: 'HTTP_503',
  message_preview: 'service unavailable',
  duration_ms: 5,
  ...over,
});
const plan = (...tools: string[]) => ({ steps: tools.map((tool) => ({ phase: 'work', tool, input: {} })) });
const run = (world: Partial<World> & Pick<World, 'call'>, tools = ['look'], policy = {}) =>
  simulateRun(prepared({ agent: 'plain', goal: 'g', plan: plan(...tools), policy }, plainRegistry), { world });

describe('a run', () => {
  it('a run completes a plan of successful steps with one attempt each and records nothing', async () => {
    const { state, records, calls } = await run({ call: ok }, ['look', 'put', 'pay']);
    expect(resultOfRun(state)).toMatchObject({
      outcome: 'completed',
      reason: 'thresholds_met',
      used: { steps: 3, attempts: 3 },
    });
    expect(calls).toBe(3);
    expect(records).toEqual([]);
  });

  it('a run retries a failed step with guidance and resolves the failure by proof', async () => {
    const seen: ToolCallRequest[] = [];
    const { state, records } = await run({
      call: (request) => {
        seen.push(request);
        return request.attempt < 3 ? failed() : ok(request);
      },
    });
    expect(resultOfRun(state)).toMatchObject({ outcome: 'completed', failures: { total: 2, active: 0 } });
    expect(seen.map((request) => request.guidance.rows.length)).toEqual([0, 1, 1]);
    expect(seen[1]?.waited_ms).toBeGreaterThanOrEqual(500);
    expect(records.flatMap((batch) => batch.records).map((record) => record.failure_id)).toEqual([
      'run-1:s1:a1:f0',
      'run-1:s1:a2:f0',
    ]);
  });

  it('a run asks a person when a given plan has no retry left, and continues with the answer', async () => {
    const { state } = await run({
      call: (request) => (request.attempt <= 5 ? failed() : ok(request)),
      react: (shown, send) => {
        if (shown.question) {
          send(1000, 'answer', { question_id: shown.question.question_id, decision: 'retry', by: 'ada' });
        }
      },
    });
    expect(resultOfRun(state)).toMatchObject({ outcome: 'completed', used: { attempts: 6 } });
    expect(state.ledger.questions.asked).toBe(1);
  });

  it('a run ends finalized when nobody answers in time', async () => {
    const { state } = await run({ call: () => failed({ category: 'auth', error_code: 'HTTP_401' }) });
    expect(resultOfRun(state)).toMatchObject({
      outcome: 'finalized',
      reason: 'question_timed_out',
      used: { attempts: 1, seconds: 0 },
    });
  });

  it('a run never repeats a side effect of unknown outcome by itself', async () => {
    const { state, calls } = await run({ call: () => failed({ certainty: 'unknown', category: 'timeout' }) }, ['pay']);
    expect(calls).toBe(1);
    expect(state.ledger.questions.asked).toBe(1);
  });
});
