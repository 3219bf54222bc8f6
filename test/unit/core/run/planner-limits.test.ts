/** The limits of a planner's choice, and when its turn is the last, in the simulated world. */
import { describe, expect, it } from 'vitest';
import type { PlannerView } from '../../../../src/core/run/ports.ts';
import type { Json } from '../../../../src/protocol/json.ts';
import { failed, liveChoosing, succeeded } from './choosing-world.ts';

const look = (input: Json) => ({ tool: 'look', input });
const call = ({ input }: { input: Json }) => succeeded(input);

describe('a turn', () => {
  it('a planner turn may choose 64 calls at once, and with more it is told what is wrong', async () => {
    const ran = async (count: number) => {
      const views: PlannerView[] = [];
      const calls = Array.from({ length: count }, (_, n) => look(n));
      const { result } = await liveChoosing({
        plan: (view) => {
          views.push(view);
          return view.turn === 1 && view.attempt === 1 ? { calls } : { calls: [], output: 'done' };
        },
        call,
        policy: { budget: { max_steps: 100, max_attempts: 1_000 } },
      });
      return { used: result.used.attempts, outcome: result.outcome, told: views[1]?.retry_context?.missed };
    };
    expect(await ran(64)).toMatchObject({ used: 64, outcome: 'completed' });
    expect(await ran(65)).toMatchObject({ used: 0, told: ['$.calls: at most 64 calls at once'] });
  });

  it('a planner turn may answer with 30,000 characters, and with too many it is told the cap', async () => {
    const told: (string[] | undefined)[] = [];
    const { result } = await liveChoosing({
      plan: (view) => {
        told.push(view.retry_context?.missed);
        return { calls: [], output: 'x'.repeat(view.attempt === 1 ? 40_000 : 30_000) };
      },
      call,
    });
    expect(result).toMatchObject({ outcome: 'completed', result: { output: 'x'.repeat(30_000) } });
    expect(told[1]).toEqual(['$.output: 40002 characters are over the cap of 32768; make it shorter']);
  });

  it('a planner turn sees every output or finds it in the store', async () => {
    const views: PlannerView[] = [];
    const { records } = await liveChoosing({
      plan: (view) => {
        views.push(view);
        if (view.turn > 1) return { calls: [], output: 'seen' };
        return { calls: Array.from({ length: 14 }, (_, n) => look(n)) };
      },
      call: ({ input }) => succeeded([input, 'y'.repeat(7_000)]),
    });
    const unseen = views[1]?.steps.filter((step) => step.output === undefined) ?? [];
    expect(views[1]?.steps).toHaveLength(14);
    // Written before the turn: the archive at the end is not among these.
    const stored = new Set(records.flatMap((batch) => batch.outputs).map(({ id }) => id));
    expect(unseen.filter((step) => !stored.has(step.artifact_id ?? ''))).toEqual([]);
    expect(stored.size).toBeGreaterThanOrEqual(13);
  });

  it('the last planner turn comes while tokens are left for a summary', async () => {
    const last: boolean[] = [];
    const { result } = await liveChoosing({
      model: 'm',
      plan: (view) => {
        last.push(view.last_turn);
        return view.last_turn
          ? { calls: [], output: 'so far', tokens: 900 }
          : { calls: [look(view.turn)], tokens: 1_000 };
      },
      call,
      policy: { budget: { max_tokens: 3_500 } },
    });
    expect(last).toEqual([false, false, true]);
    expect(result).toMatchObject({ outcome: 'budget_exhausted', reason: 'tokens', result: { output: 'so far' } });
    expect(result.used).toMatchObject({ tokens: 2_900, model_calls: 3 });
  });
});

describe('what a model writes', () => {
  it("text that a model writes is data and never a pointer to another run's results", async () => {
    const seen: Json[] = [];
    await liveChoosing({
      model: 'm',
      plan: (view) => (view.turn === 1 ? { calls: [look({ of: { $artifact: 'abc' } })] } : { calls: [], output: 1 }),
      call: (request) => {
        seen.push(request.input, request.literal ?? false);
        return succeeded(0);
      },
    });
    expect(seen).toEqual([{ of: { $artifact: 'abc' } }, true]);
  });
});

describe('a run that ends because nobody answered', () => {
  it('a run that ends because nobody answered says which failure was open', async () => {
    const { result } = await liveChoosing({
      steps: [look(1)],
      call: () => failed('HTTP_401', 'the key is wrong', { category: 'auth' }),
    });
    expect(result).toMatchObject({ outcome: 'finalized', reason: 'question_timed_out' });
    expect(result.why).toContain('HTTP_401 the key is wrong');
  });
});
