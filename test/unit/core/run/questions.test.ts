/** What a question of each kind carries, and what becomes of an approval with another input, in virtual time. */
import { describe, expect, it } from 'vitest';
import type { PublishedState } from '../../../../src/core/run/ports.ts';
import type { PendingQuestion } from '../../../../src/protocol/questions.ts';
import type { PolicyPatch } from '../../../../src/protocol/schemas/policy.ts';
import type { CallOutcome, ToolCallRequest } from '../../../../src/protocol/tools.ts';
import { type Send, simulateRun, type World } from '../../../../src/testing/simulator/simulate-run.ts';
import { plainRegistry, prepared } from '../../../support/fixtures.ts';
import { everyRecord, failed, liveChoosing, succeeded } from './choosing-world.ts';

/** Collects the questions as they are asked, and answers each with the next body. */
function people(...answers: object[]) {
  const asked: PendingQuestion[] = [];
  const react = ({ question }: PublishedState, send: Send): void => {
    if (question === null) return;
    asked.push(question);
    const answer = answers.shift();
    if (answer !== undefined) send(1_000, 'answer', { question_id: question.question_id, by: 'ada', ...answer });
  };
  return { asked, react };
}

const live = (steps: { tool: string; input: object }[], world: World, policy: PolicyPatch = {}) =>
  simulateRun(
    prepared(
      {
        agent: 'plain',
        goal: 'g',
        plan: { steps: steps.map((step) => ({ phase: 'work', ...step })) as never },
        policy,
      },
      plainRegistry,
    ),
    { world },
  );

describe('a question', () => {
  it('about an approval names the earlier calls of the tool', async () => {
    const { asked, react } = people({ decision: 'deny' }, { decision: 'approve' });
    const steps = [
      { tool: 'launch', input: { n: 1 } },
      { tool: 'launch', input: { n: 2 } },
    ];
    await live(steps, { call: () => succeeded('up'), react });
    expect(asked.map(({ input, tried }) => [input, tried])).toEqual([
      [{ n: 1 }, []],
      [{ n: 2 }, ['Step 1 called the same tool before and was denied.']],
    ]);
  });

  it('says who is asked next, and after the last one only what the policy decides', async () => {
    const { asked, react } = people();
    const policy = { humans: { deadline_ms: 1_000, chain: ['bob', 'eve'], default: 'deny' as const } };
    await live([{ tool: 'launch', input: {} }], { call: () => succeeded('up'), react }, policy);
    expect(asked.map(({ if_unanswered: { does } }) => does.split(/ (?:is|are) asked| decides/)[0])).toEqual([
      'bob, then eve',
      'eve',
      'The policy',
    ]);
    expect(asked.every(({ if_unanswered: { decision } }) => decision === 'deny')).toBe(true);
  });

  it('about a failed step says how each attempt came about and how it ended', async () => {
    const { asked, react } = people({ decision: 'stop' });
    const policy = { retry: { server_error: 1, base_ms: 2_000 } };
    const call = (): CallOutcome => failed('HTTP_503', 'away', { category: 'server_error' });
    await live([{ tool: 'look', input: { page: 1 } }], { call, react }, policy);
    expect(asked).toMatchObject([
      { kind: 'failure', tool: 'look', step_id: 1, input: { page: 1 }, budget: { used: { attempts: 2 } } },
    ]);
    expect(asked[0]?.tried[0]).toBe('Attempt 1 failed (HTTP_503: away).');
    expect(asked[0]?.tried[1]).toMatch(
      /^Attempt 2, after a wait of [\d.]+ s, with guidance, failed \(HTTP_503: away\)\.$/,
    );
  });

  it('about a stuck agent has its words, and one about a pass what the review missed', async () => {
    const stuck = people({ decision: 'stop' });
    await liveChoosing({
      plan: () => ({ calls: [{ tool: 'look', input: { path: 'a' } }], message: 'I look once more.' }),
      call: () => succeeded('same'),
      more: { react: stuck.react },
    });
    expect(stuck.asked[0]).toMatchObject({
      kind: 'stuck',
      tool: 'look',
      input: { path: 'a' },
      reason: 'I look once more.',
    });
    const pass = people({ decision: 'stop' });
    const review = () => ({ alignment_score: 0.4, drift_score: 0.2, summary_valid: true, missed: ['the second page'] });
    await liveChoosing({
      judged: true,
      call: () => succeeded('x'),
      policy: { reruns: { max_reruns: 0, on_guard: 'ask_human' } },
      more: { react: pass.react, review },
    });
    expect(pass.asked[0]).toMatchObject({ kind: 'pass', tried: ['Missed: the second page'] });
    expect(pass.asked[0]).not.toHaveProperty('tool');
    expect(pass.asked[0]?.choices.map(({ option }) => option)).toEqual(pass.asked[0]?.options);
  });

  it('does not make the state larger than its step already is', async () => {
    const { asked, react } = people({ decision: 'stop' });
    const note = 'x'.repeat(20_000);
    const { state, records } = await live([{ tool: 'launch', input: { note } }], {
      call: () => succeeded('up'),
      react,
    });
    expect(asked[0]?.input).toHaveLength(8_000);
    expect(JSON.stringify({ ...state, run: null })).not.toContain(note);
    // The whole input is in the store.
    const [kept] = records.flatMap(({ artifacts }) => artifacts);
    expect(kept).toEqual({ id: asked[0]?.input_artifact_id, text: JSON.stringify({ note }) });
  });
});

describe('an approval with another input', () => {
  it('runs with it, and is recorded with who changed what', async () => {
    const calls: ToolCallRequest[] = [];
    const { react } = people({ decision: 'approve', input: { n: 2, $step: 'a' } });
    const call = (request: ToolCallRequest): CallOutcome => {
      calls.push(request);
      return succeeded('up');
    };
    const simulated = await live([{ tool: 'launch', input: { n: 1 } }], { call, react });
    expect(calls).toMatchObject([{ input: { n: 2, $step: 'a' }, literal: true }]);
    expect(everyRecord(simulated)).toMatchObject([
      {
        signal_type: 'human_correction',
        observed_outcome: {
          error_code: 'INPUT_CHANGED',
          message_preview: 'ada: changed the input of launch before it ran: $.n from 1 to 2, $.$step added as "a"',
        },
      },
    ]);
    expect(simulated.result).toMatchObject({ outcome: 'completed', failures: { total: 0 } });
  });

  it('leaves no record if nothing was changed', async () => {
    const { react } = people({ decision: 'approve', input: { n: 1 } });
    const simulated = await live([{ tool: 'launch', input: { n: 1 } }], { call: () => succeeded('up'), react });
    expect(everyRecord(simulated)).toEqual([]);
  });

  it('that does not fit is ignored, and the question waits for one that does', async () => {
    const { react } = people({ decision: 'approve', input: { n: 'many' } });
    const answers = [{ decision: 'approve', input: { n: 3 } }];
    let sent = 0;
    const checkInput: World['checkInput'] = ({ input }) => {
      sent += 1;
      return typeof (input as { n: unknown }).n === 'number'
        ? { ok: true }
        : { ok: false, problems: [{ path: '$.input.n', message: 'expected number' }] };
    };
    const calls: unknown[] = [];
    const { state } = await live([{ tool: 'launch', input: { n: 1 } }], {
      call: ({ input }) => {
        calls.push(input);
        return succeeded('up');
      },
      checkInput,
      react: (shown, send) => {
        react(shown, send);
        const { question } = shown;
        if (question !== null)
          send(2_000, 'answer', { question_id: question.question_id, by: 'bob', ...answers.shift() });
      },
    });
    expect({ sent, calls }).toEqual({ sent: 2, calls: [{ n: 3 }] });
    expect(state.people.ignored).toMatchObject([{ type: 'answer', reason: 'expected number' }]);
  });

  it('that makes it an effect of unknown outcome does not run before a person has said what became of that effect', async () => {
    const { asked, react } = people(
      { decision: 'approve' },
      { decision: 'skip' },
      { decision: 'approve', input: { n: 1 } },
      { decision: 'skip' },
    );
    const calls: unknown[] = [];
    const call = ({ input }: ToolCallRequest): CallOutcome => {
      calls.push(input);
      return failed('ECONNRESET', 'gone', { category: 'network', certainty: 'unknown' });
    };
    const steps = [
      { tool: 'launch', input: { n: 1 } },
      { tool: 'launch', input: { n: 2 } },
    ];
    await live(steps, { call, react }, { humans: { max_questions: 10 } });
    expect(asked.map(({ kind }) => kind)).toEqual(['approval', 'unknown_effect', 'approval', 'unknown_effect']);
    expect(calls).toEqual([{ n: 1 }]);
  });
});
