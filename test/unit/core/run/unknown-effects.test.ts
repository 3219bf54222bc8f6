/**
 * Side effects whose outcome is unknown, in the simulated world: which calls run, under which idempotency key, and what the
 * planner sees. That an effect really happens once: test/stack/unknown-effects.test.ts.
 */
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { agentTool } from '../../../../src/define/agent-tool.ts';
import { defineAgent } from '../../../../src/define/define-agent.ts';
import { defineTool } from '../../../../src/define/define-tool.ts';
import { createRegistry } from '../../../../src/define/registry.ts';
import type { PlannerOutcome, PlannerStep, PlannerView } from '../../../../src/core/run/ports.ts';
import type { Json } from '../../../../src/protocol/json.ts';
import type { PolicyPatch } from '../../../../src/protocol/schemas/policy.ts';
import type { CallOutcome, ToolCallRequest } from '../../../../src/protocol/tools.ts';
import { simulateRun, type World } from '../../../../src/testing/simulator/simulate-run.ts';
import { simulateSubRun } from '../../../../src/testing/simulator/sub-run.ts';
import { prepared } from '../../../support/fixtures.ts';
import { failed, liveChoosing, succeeded } from './choosing-world.ts';

const lost = (more: { may_act_ms?: number; still_running?: true } = {}): CallOutcome =>
  failed('ECONNRESET', 'socket hang up', { certainty: 'unknown', category: 'network', ...more });
const pay = { tool: 'pay', input: { euros: 5 } };

interface Lived {
  requests: ToolCallRequest[];
  steps: PlannerStep[];
  options: string[][];
  questions: string[];
  result: Awaited<ReturnType<typeof liveChoosing>>['result'];
  state: Awaited<ReturnType<typeof liveChoosing>>['state'];
  atMs: number[];
}

/** Runs a planner that makes the given calls, one turn each, and answers its questions in order. */
async function live(
  turns: { tool: string; input: Json }[][],
  outcomes: CallOutcome[],
  answers: Record<string, Json>[],
  policy: PolicyPatch = {},
  world: Partial<World> = {},
): Promise<Lived> {
  const requests: ToolCallRequest[] = [];
  const options: string[][] = [];
  const questions: string[] = [];
  const atMs: number[] = [];
  let steps: PlannerStep[] = [];
  let startedAt = 0;
  const { result, state } = await liveChoosing({
    plan: (view) => {
      steps = view.steps;
      const calls = turns[view.turn - 1];
      return calls === undefined ? { calls: [], output: 'done' } : { calls };
    },
    call: (request) => {
      startedAt ||= request.time_left_ms;
      atMs.push(startedAt - request.time_left_ms);
      requests.push(request);
      return outcomes[requests.length - 1] ?? succeeded('paid');
    },
    policy: { reruns: { max_reruns: 0 }, ...policy },
    more: {
      ...world,
      react: ({ question }, send) => {
        if (question === null || options.length >= Number(question.question_id.split(':q')[1])) return;
        options.push(question.options);
        questions.push(question.text);
        const answer = answers[options.length - 1];
        if (answer === undefined) return;
        send(10, 'answer', { question_id: question.question_id, by: 'ada', ...answer });
      },
    },
  });
  return { requests, steps, options, questions, result, state, atMs };
}
const keys = ({ requests }: Lived): string[] => requests.map(({ idempotency_key }) => idempotency_key);
const nth = ({ requests }: Lived): number[] =>
  requests.map(({ idempotency_key }) => Number(idempotency_key.split(':').at(-1)));

describe('the question about an effect of unknown outcome', () => {
  it('the question offers done, not_done, skip and stop, and never retry', async () => {
    const { options } = await live([[pay]], [lost()], [{ decision: 'stop' }]);
    expect(options).toEqual([['done', 'not_done', 'skip', 'stop']]);
  });

  it('with done, the planner gets the output and what the person wrote, and nothing runs again', async () => {
    const answer = { decision: 'done', text: 'it is on the statement', output: { receipt: 7 } };
    const { requests, steps } = await live([[pay]], [lost()], [answer]);
    expect(requests).toHaveLength(1);
    expect(steps).toMatchObject([
      {
        status: 'ok',
        output: { receipt: 7 },
        known: 'ada said that this call took effect. ada wrote: "it is on the statement"',
      },
    ]);
  });

  it('with not_done, the call runs again under the same key', async () => {
    const lived = await live([[pay]], [lost()], [{ decision: 'not_done' }]);
    expect(lived.requests).toHaveLength(2);
    expect(new Set(keys(lived)).size).toBe(1);
    expect(lived.requests[1]?.fence).toBeGreaterThan(lived.requests[0]?.fence ?? 0);
  });

  it('with not_done, the call waits until a worker that may only be frozen cannot act any more', async () => {
    const { atMs } = await live([[pay]], [lost({ may_act_ms: 30_000 })], [{ decision: 'not_done' }]);
    // The person answered after 10 ms, which the time budget leaves out.
    expect(atMs[1]).toBeGreaterThanOrEqual(30_000 - 20);
  });

  it('the question says until when a worker that may only be frozen can still act', async () => {
    const lived = await live([[pay]], [lost({ may_act_ms: 30_000 })], [{ decision: 'skip' }]);
    const until = lived.state.effects.unknown[0]?.may_act_until ?? 0;
    expect(lived.questions).toEqual([expect.stringContaining(`may still act until ${new Date(until).toISOString()}`)]);
    expect((await live([[pay]], [lost()], [{ decision: 'skip' }])).questions[0]).not.toContain('may still act');
  });

  it('an attempt that does not stop is not believed to be over: reconcile may confirm it, and cannot rule it out', async () => {
    const book = { tool: 'book', input: { seat: 1 } };
    const running = lost({ still_running: true });
    const verdict = (found: 'done' | 'not_done'): Partial<World> => ({
      reconcile: () => (found === 'done' ? { verdict: 'done', ...succeeded('booked') } : { verdict: 'not_done' }),
    });
    const ruledOut = await live([[book]], [running], [{ decision: 'skip' }], {}, verdict('not_done'));
    expect(ruledOut.requests).toHaveLength(1);
    expect(ruledOut.questions).toEqual([expect.stringMatching(/did not stop after its timeout and may still act/)]);
    expect(ruledOut.steps[0]?.known).toContain('reconcile says that it was not done until then');
    const confirmed = await live([[book]], [running], [], {}, verdict('done'));
    expect(confirmed).toMatchObject({ questions: [], steps: [{ status: 'ok', output: 'booked' }] });
    const over = await live([[book]], [lost()], [], {}, verdict('not_done'));
    expect({ requests: over.requests.length, questions: over.questions }).toEqual({ requests: 2, questions: [] });
  });

  it('stop ends the run and says that the outcome is unknown', async () => {
    const { result } = await live([[pay]], [lost()], [{ decision: 'stop' }]);
    expect(result).toMatchObject({ outcome: 'finalized', reason: 'stopped_by_human' });
    expect(result.why).toContain('it is unknown whether step 1 (pay) took effect');
  });
});

describe('an identical call while the outcome is unknown', () => {
  it('the call does not run after a skip, and the planner is told what is known and what the person wrote', async () => {
    const skip = { decision: 'skip', text: 'I checked: it happened' };
    const { requests, steps, options } = await live([[pay], [pay]], [lost()], [skip], {
      humans: { max_questions: 1 },
    });
    expect({ requests: requests.length, asked: options.length }).toEqual({ requests: 1, asked: 1 });
    const known =
      'It is unknown whether this call took effect. It was started and failed: ECONNRESET socket hang up. ' +
      'ada left it open and wrote: "I checked: it happened" The same call does not run again while this is unknown.';
    expect(steps.map(({ status, known: told }) => ({ status, told }))).toEqual([
      { status: 'unknown', told: known },
      { status: 'unknown', told: known },
    ]);
  });

  it('the call asks again while questions are left, and a person may settle it then', async () => {
    const lived = await live([[pay], [pay]], [lost()], [{ decision: 'skip' }, { decision: 'not_done' }]);
    expect(lived.options).toHaveLength(2);
    expect(lived.requests).toHaveLength(2);
    expect(new Set(keys(lived)).size).toBe(1);
  });

  it('the call does not run after a deadline', async () => {
    const humans = { deadline_ms: 100, default: 'skip' as const, max_questions: 1 };
    const { requests, steps } = await live([[pay], [pay]], [lost()], [], { humans });
    expect(requests).toHaveLength(1);
    expect(steps.at(-1)?.known).toContain('Nobody answered the question about it in time.');
  });

  it('the call does not run if no question could be asked at all', async () => {
    const humans = { default: 'skip' as const, max_questions: 0 };
    const { requests, steps } = await live([[pay], [pay]], [lost()], [], { humans });
    expect(requests).toHaveLength(1);
    expect(steps[0]?.known).toContain('No question was left to ask a person about it.');
  });

  it('a call with another input, and a read, run as usual', async () => {
    const other = { tool: 'pay', input: { euros: 6 } };
    const { requests } = await live([[pay], [other, { tool: 'look', input: 1 }]], [lost()], [{ decision: 'skip' }]);
    expect(requests.map(({ tool, input }) => [tool, input])).toEqual([
      ['pay', { euros: 5 }],
      ['pay', { euros: 6 }],
      ['look', 1],
    ]);
  });

  it('a person who lets a stalled planner continue has not said that the payment was not done', async () => {
    const lived = await live(
      Array.from({ length: 8 }, () => [pay]),
      [lost()],
      [{ decision: 'skip' }, { decision: 'skip' }, { decision: 'skip' }, { decision: 'retry' }, { decision: 'skip' }],
      { humans: { max_questions: 10 } },
    );
    expect(lived.requests).toHaveLength(1);
  });
});

describe('the idempotency key', () => {
  it('two identical calls of which the first is done have two keys', async () => {
    const lived = await live([[pay], [pay]], [], []);
    expect(nth(lived)).toEqual([1, 2]);
    expect(new Set(keys(lived).map((key) => key.slice(0, -1))).size).toBe(1);
  });

  it('identical calls in one batch run one after another, each with its own key', async () => {
    const lived = await live([[pay, pay, pay]], [], []);
    expect(nth(lived)).toEqual([1, 2, 3]);
  });

  it('a retry keeps the key', async () => {
    const refused = failed('HTTP_429', 'slow down', { category: 'rate_limit' });
    expect(nth(await live([[pay]], [refused, refused], []))).toEqual([1, 1, 1]);
  });

  it('an identical call after a failure that is certain keeps the key', async () => {
    const refused = failed('HTTP_422', 'no such account');
    expect(nth(await live([[pay], [pay]], [refused], []))).toEqual([1, 1]);
  });

  it('the second of two identical calls in a batch is held if the first is unknown', async () => {
    const lived = await live([[pay, pay]], [lost()], [{ decision: 'skip' }, { decision: 'done' }]);
    expect(lived.requests).toHaveLength(1);
    expect(lived.state.effects.unknown).toEqual([]);
  });

  it('counts no more than its cap of calls, and the state stays small', async () => {
    const many = Array.from({ length: 55 }, (_turn, turn) =>
      Array.from({ length: 20 }, (_call, n) => ({ tool: 'pay', input: 20 * turn + n })),
    );
    const budget = { max_steps: 2_000, max_attempts: 3_000, max_model_calls: 2_000 };
    const { state } = await live(many, [], [], { budget });
    expect(Object.keys(state.effects.done)).toHaveLength(1_000);
    expect(JSON.stringify(state.effects).length).toBeLessThan(128 * 1_024);
  });

  it('a payment after 1,200 reads is a new one, with a key of its own', async () => {
    const reads = Array.from({ length: 60 }, (_turn, turn) =>
      Array.from({ length: 20 }, (_call, n) => ({ tool: 'look', input: 20 * turn + n })),
    );
    const budget = { max_steps: 2_000, max_attempts: 3_000, max_model_calls: 2_000 };
    const { requests, state } = await live([[pay], ...reads, [pay]], [], [], { budget, mode: 'observe' });
    const payments = requests.filter(({ tool }) => tool === 'pay').map(({ idempotency_key }) => idempotency_key);
    expect({ requests: requests.length, payments: new Set(payments).size }).toEqual({ requests: 1_202, payments: 2 });
    expect(Object.values(state.effects.done)).toEqual([2]);
  });
});

describe('what a sub-run knows', () => {
  const json = { input: z.json(), output: z.json(), run: () => null };
  const payTool = defineTool({ name: 'pay', effect: 'side_effect', ...json });
  const choose = { choose: () => ({ calls: [] }) };
  const clerk = defineAgent({ name: 'clerk', tools: [payTool], planner: choose });
  const boss = defineAgent({ name: 'boss', tools: [payTool, agentTool(clerk)], planner: choose });
  const registry = createRegistry([boss]);
  const askClerk = { tool: 'clerk', input: { goal: 'pay the bill' } };

  /** The boss makes these calls in its turns; the clerk makes one payment in each of its runs. */
  async function liveWithClerk(
    turns: { tool: string; input: Json }[][],
    outcomes: CallOutcome[],
    decisions: string | string[],
    clerkTurns: PlannerOutcome[] = [],
    outcomeOf: (runId: string) => CallOutcome = () => succeeded('paid'),
  ) {
    const requests: ToolCallRequest[] = [];
    const asked = new Set<string>();
    let views: PlannerView[] = [];
    const world: World = {
      call: (request) => {
        requests.push(request);
        return outcomes[requests.length - 1] ?? outcomeOf(request.run_id);
      },
      plan: (view) => {
        const planned = view.agent === 'clerk' ? clerkTurns.shift() : undefined;
        if (planned !== undefined) return planned;
        const calls = view.agent === 'clerk' ? [[pay]][view.turn - 1] : turns[view.turn - 1];
        if (view.agent === 'clerk') views = [...views, view];
        return { class: 'ok', calls: calls ?? [], output: 'done', tokens: 0, cost_micro_usd: 0, duration_ms: 1 };
      },
      subRun: async (sub) => (await simulateSubRun(sub, registry, () => world)).outcome,
      react: ({ question }, send) => {
        if (question === null || asked.has(question.question_id)) return;
        const decision = typeof decisions === 'string' ? decisions : (decisions[asked.size] ?? 'stop');
        asked.add(question.question_id);
        const text = `about ${question.question_id}`;
        send(10, 'answer', { question_id: question.question_id, decision, by: 'ada', text });
      },
    };
    const humans = { max_questions: 8, default: 'skip' as const };
    // A person is asked about the first failure of a step.
    const policy = { reruns: { max_reruns: 0 }, humans, failures: { escalate_at: 1 } };
    const run = prepared({ agent: 'boss', goal: 'have it paid', run_id: 'run-1', policy }, registry);
    const { result, state } = await simulateRun(run, { world });
    return { requests, views, result, state };
  }
  const orders = (requests: ToolCallRequest[]) => requests.map(({ idempotency_key: key }) => key);

  it('an effect that is unknown to its parent is not repeated by the sub-run', async () => {
    const { requests, views } = await liveWithClerk([[pay], [askClerk]], [lost()], 'skip');
    expect(requests).toHaveLength(1);
    expect(views.at(-1)?.steps).toMatchObject([{ tool: 'pay', status: 'unknown' }]);
  });

  it('an effect that is unknown in the sub-run is not repeated by its parent, nor by the next sub-run', async () => {
    const { requests } = await liveWithClerk(
      [[askClerk], [pay], [{ ...askClerk, input: { goal: 'again' } }]],
      [lost()],
      'skip',
    );
    expect(requests).toHaveLength(1);
  });

  it('what its parent has done counts for the keys of the sub-run, and the other way round', async () => {
    const { requests } = await liveWithClerk([[pay], [askClerk], [pay]], [], 'stop');
    expect(orders(requests).map((key) => key.split(':').at(-1))).toEqual(['1', '2', '3']);
    expect(new Set(orders(requests).map((key) => key.split(':')[0]))).toEqual(new Set(['run-1']));
  });

  it('what a person says in the sub-run settles it for the parent', async () => {
    const { requests } = await liveWithClerk([[askClerk], [pay]], [lost()], 'done');
    // The payment of the sub-run is done, so the parent's is a new one with a key of its own.
    expect(orders(requests).map((key) => key.split(':').at(-1))).toEqual(['1', '2']);
  });

  it('an effect that becomes unknown again in the sub-run, after a not_done, is not repeated by its parent', async () => {
    const again = lost({ may_act_ms: 60_000 });
    const turns = [[pay], [askClerk], [pay]];
    const { requests, state } = await liveWithClerk(turns, [lost(), again], ['skip', 'not_done', 'skip', 'skip']);
    expect(requests.map(({ run_id }) => run_id)).toEqual(['run-1', 'run-1.s2.a1']);
    expect(state.effects.unknown).toMatchObject([{ key: orders(requests)[0], may_act_until: expect.any(Number) }]);
    expect(state.effects.settled).toEqual([]);
  });

  describe('beside another step', () => {
    const broken: PlannerOutcome = { ...failed('NO_IDEA', 'no idea'), certainty: 'failed', category: 'invalid_input' };
    const batch = [[askClerk, pay]];

    it('a sub-run that is tried again does not repeat a payment of the step that ended beside it', async () => {
      // The first run of the clerk fails, and a person lets it try again while the payment is not settled yet.
      const { requests } = await liveWithClerk(batch, [lost()], ['stop', 'retry', 'skip', 'skip'], [broken]);
      expect(requests.map(({ run_id }) => run_id)).toEqual(['run-1']);
    });

    it('a sub-run that is tried again does not use the key of a payment that has succeeded beside it', async () => {
      const { requests } = await liveWithClerk(batch, [], ['stop', 'retry'], [broken]);
      expect(requests.map(({ run_id }) => run_id)).toEqual(['run-1', 'run-1.s1.a2']);
      expect(new Set(orders(requests)).size).toBe(2);
    });

    it('a retry does not run once a sub-run beside it has reported the same payment as unknown', async () => {
      const refused = failed('HTTP_429', 'slow down', { category: 'rate_limit', retry_after_ms: 20_000 });
      const ofRun = (runId: string) => (runId === 'run-1' ? refused : lost());
      const { requests, views } = await liveWithClerk(batch, [], ['skip', 'skip'], [], ofRun);
      expect(views).not.toEqual([]);
      expect(requests.map(({ run_id }) => run_id).toSorted()).toEqual(['run-1', 'run-1.s1.a1']);
    });
  });

  it('what a person wrote in the sub-run about an effect of its parent is known to the parent', async () => {
    const { state } = await liveWithClerk([[pay], [askClerk]], [lost()], 'skip');
    expect(state.effects.unknown).toMatchObject([{ known: expect.stringContaining('"about run-1.s2.a1:q1"') }]);
  });

  it('sub-runs that work beside other steps share no key with them', async () => {
    const second = { tool: 'clerk', input: { goal: 'pay the other bill' } };
    const { requests } = await liveWithClerk([[pay, askClerk, second]], [], 'stop');
    expect(new Set(orders(requests)).size).toBe(3);
  });

  it('a payment of a sub-run happens once in all passes, although the goal of the sub-run is worded differently', async () => {
    const requests: ToolCallRequest[] = [];
    const told: (string[] | undefined)[] = [];
    const clerkSteps: PlannerStep[] = [];
    const world: World = {
      call: (request) => {
        requests.push(request);
        return succeeded('paid');
      },
      plan: (view) => {
        const ended = { class: 'ok' as const, output: 'done', tokens: 0, cost_micro_usd: 0, duration_ms: 1 };
        if (view.agent === 'clerk') clerkSteps.push(...view.steps);
        else if (view.turn === 1) told.push(view.rerun?.done);
        if (view.turn > 1) return { ...ended, calls: [] };
        const ask = { tool: 'clerk', input: { goal: `pay the bill, ${view.loop_id}` } };
        return { ...ended, calls: [view.agent === 'clerk' ? pay : ask] };
      },
      subRun: async (sub) => (await simulateSubRun(sub, registry, () => world)).outcome,
      review: () => ({ alignment_score: 0.5, drift_score: 0 }),
    };
    const policy = { reruns: { max_reruns: 2 } };
    const run = prepared({ agent: 'boss', goal: 'have it paid', run_id: 'run-1', policy }, registry);
    const { result } = await simulateRun({ ...run, reviewer: 'own' }, { world });
    expect({ loops: result?.loops, payments: requests.length }).toEqual({ loops: 3, payments: 1 });
    expect(clerkSteps.map(({ status }) => status)).toEqual(['ok', 'ok', 'ok']);
    expect(told[1]).toContain('pay {"euros":5}');
  });
});
