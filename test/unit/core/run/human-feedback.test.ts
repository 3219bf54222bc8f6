/** Feedback during a run: it is detected, recorded when it is a correction, and shown to the planner. */
import { describe, expect, it } from 'vitest';
import type { PlannerView } from '../../../../src/core/run/ports.ts';
import { apply, receive } from '../../../../src/core/run/messages.ts';
import { openRun } from '../../../../src/core/run/state.ts';
import { plainRegistry, prepared } from '../../../support/fixtures.ts';
import { everyRecord, failed, liveChoosing, succeeded } from './choosing-world.ts';

const NOW = Date.UTC(2030, 0, 1);
const open = () =>
  openRun(
    prepared(
      { agent: 'plain', goal: 'Write the report', plan: { steps: [{ phase: 'work', tool: 'look', input: {} }] } },
      plainRegistry,
    ),
    NOW,
  );

function say(state: ReturnType<typeof open>, text: string) {
  const checked = receive(state, 'feedback', { text, by: 'ada' });
  if (!checked.ok) throw new Error(checked.problem);
  return apply(state, checked.message, NOW);
}

describe('feedback', () => {
  it('feedback that rejects the work is recorded as a human_correction', () => {
    const state = open();
    expect(say(state, "No, that's wrong. I meant the quarterly report.")).toMatchObject({
      feedback_type: 'user_rejection',
      effect: expect.stringContaining('recorded as a human_correction'),
    });
    expect(state.failures.by_signal).toEqual({ human_correction: 1 });
    expect(state.outbox.records[0]).toMatchObject({
      signal_type: 'human_correction',
      severity: 'medium',
      observed_outcome: { kind: 'correction', error_code: 'CORRECTED' },
    });
  });

  it('feedback about a partial success is a human_correction too, and each feedback has its own record', () => {
    const state = open();
    say(state, 'Almost there, but the totals are still missing.');
    say(state, "No, that's wrong.");
    expect(state.failures.by_signal).toEqual({ human_correction: 2 });
    expect(new Set(state.outbox.records.map(({ failure_id }) => failure_id)).size).toBe(2);
  });

  it.each(['looks good so far', 'no problem at all', 'thanks, all tests passed'])(
    'the feedback "%s" is not recorded as a correction',
    (text) => {
      const state = open();
      expect(say(state, text)).toEqual({
        feedback_type: null,
        confidence: 0,
        effect: 'kept for the next planning turn',
      });
      expect(state.failures.total).toBe(0);
      expect(state.outbox.feedback).toEqual([]);
    },
  );

  it('feedback is logged in the documented shape with one entry for each iteration', () => {
    const state = open();
    say(state, "No, that's wrong. I meant the quarterly report.");
    expect(state.outbox.feedback.length).toBeGreaterThan(0);
    expect(state.outbox.feedback[0]).toMatchObject({
      entry_id: 'run-1:feedback:0:1',
      run_id: 'run-1',
      original_prompt: 'Write the report',
      feedback_type: 'user_rejection',
      feedback_signal: "No, that's wrong. I meant the quarterly report.",
      iteration: 1,
      timestamp: '2030-01-01T00:00:00.000Z',
    });
  });

  it('feedback that arrives while the run waits for a person is written at once, also during another write', async () => {
    let isSent = false;
    const lived = await liveChoosing({
      steps: [{ tool: 'look', input: {} }],
      call: () => failed('CLOSED', 'no', { category: 'auth' }),
      more: {
        react: ({ question }, send) => {
          if (question === null || isSent) return;
          isSent = true;
          // The first arrives while the failure of the step may still be on its way to the store.
          send(0, 'feedback', { text: "No, that's wrong.", by: 'ada' });
          send(1_000, 'feedback', { text: 'Almost there, but the totals are missing.', by: 'bob' });
          send(2_000, 'feedback', { text: 'thanks', by: 'bob' });
        },
      },
    });
    // Nobody answers, so whatever was not written while the run waited would be in the archive.
    expect(lived.result).toMatchObject({ reason: 'question_timed_out' });
    const written = lived.records.flatMap((batch) => batch.records.map(({ signal_type }) => signal_type));
    expect(written).toEqual(['tool_error', 'human_correction', 'human_correction']);
    expect(lived.records.flatMap((batch) => batch.feedback).length).toBeGreaterThan(0);
    expect(lived.archives[0]?.pending).toMatchObject({ records: [], feedback: [] });
  });

  it('feedback does not give people more time to answer', async () => {
    let isSent = false;
    const lived = await liveChoosing({
      steps: [{ tool: 'look', input: {} }],
      call: () => failed('CLOSED', 'no'),
      policy: { humans: { deadline_ms: 10_000 } },
      more: {
        react: ({ question }, send) => {
          if (question === null || isSent) return;
          isSent = true;
          send(6_000, 'feedback', { text: "No, that's wrong.", by: 'ada' });
          send(11_000, 'answer', { question_id: question.question_id, decision: 'skip', by: 'ada' });
        },
      },
    });
    expect(lived.result).toMatchObject({ reason: 'question_timed_out' });
  });

  it("feedback refines the goal that the planner sees and leaves the run's own goal unchanged", async () => {
    const views: PlannerView[] = [];
    const lived = await liveChoosing({
      plan: (view) => {
        views.push(view);
        return view.turn <= 2 ? { calls: [{ tool: 'look', input: { turn: view.turn } }] } : { calls: [] };
      },
      call: ({ step_id }) => succeeded(step_id, { duration_ms: 1_000 }),
      more: {
        react: (_shown, send) => send(500, 'feedback', { text: "No, that's wrong. I meant the blue one.", by: 'ada' }),
      },
    });
    expect(views[0]?.prompt).toBe('get there');
    expect(views[1]?.prompt).toContain('the blue one');
    expect(views[1]?.goal).toBe('get there');
    expect(everyRecord(lived)[0]).toMatchObject({ signal_type: 'human_correction', step_id: 1 });
  });
});
