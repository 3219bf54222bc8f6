/** Scenarios as data: each is executed in the simulator and on Temporal, and both must end in the same state. */
import { fingerprintOf } from '../../src/core/failures/fingerprint.ts';
import { sha256Hex } from '../../src/protocol/ids.ts';
import type { Json } from '../../src/protocol/json.ts';
import type { RunMessage } from '../../src/protocol/messages.ts';
import type { RunRequest, RunResult } from '../../src/protocol/run.ts';
import type { PolicyPatch } from '../../src/protocol/schemas/policy.ts';
import type { PlanStep } from '../../src/protocol/schemas/plan.ts';
import type { Behaviour } from './scripted-tools.ts';

export interface Scenario {
  name: string;
  request: Omit<RunRequest, 'run_id'>;
  /** The message that is sent when the n-th question is open (from 1). The question's id is filled in. */
  answers?: { [question: number]: { type: RunMessage['type']; body: Record<string, Json> } };
  /** Messages that are sent while the n-th question is open, before its answer. */
  whileAsked?: { [question: number]: { type: RunMessage['type']; body: unknown }[] };
  /** Messages that are sent right after the start. */
  atOnce?: { type: RunMessage['type']; body: unknown }[];
  expect: Partial<RunResult>;
}

/**
 * Waits are short, because Temporal uses real timers. On Temporal the scenarios share a store, so none of them uses the
 * memory of another.
 */
export const QUICK: PolicyPatch = { retry: { base_ms: 20, max_wait_ms: 500 }, memory: { scope: 'run' } };

const step = (tool: string, ...attempts: Behaviour[]): PlanStep => ({ phase: 'work', tool, input: { attempts } });
const ok = (value: Json = 'fine'): Behaviour => ({ ok: value });
const given = (steps: PlanStep[], policy: PolicyPatch = {}): Scenario['request'] => ({
  agent: 'scripted',
  goal: 'live through it',
  plan: { steps },
  policy: { ...QUICK, ...policy },
});
const answer = (decision: string, extra: Record<string, Json> = {}) => ({
  type: 'answer' as const,
  body: { decision, by: 'ada', ...extra },
});

const NOTHING = { steps: 0, attempts: 0, model_calls: 0, tokens: 0, cost_micro_usd: 0, seconds: 0 };
const EXPIRED = fingerprintOf({
  signal_type: 'tool_error',
  tool_name: 'script.read',
  error_code: 'EXPIRED',
  message: 'token expired',
});
const NO_FAILURES = { total: 0, active: 0, by_signal: {} };
const RECEIPT_7 = sha256Hex('{"value":"receipt 7"}');

export const scenarios: Scenario[] = [
  {
    name: 'three steps that succeed',
    request: given([step('script.read', ok(1)), step('script.put', ok(2)), step('script.pay', ok(3))]),
    expect: { outcome: 'completed', reason: 'thresholds_met' },
  },
  {
    name: 'a server that is unavailable twice',
    request: given([step('script.read', { fail: 'server_error' }, { fail: 'server_error' }, ok())]),
    expect: { outcome: 'completed' },
  },
  {
    name: 'a different failure at each attempt',
    request: given(
      [
        step(
          'script.read',
          { fail: 'network', code: 'ECONNRESET' },
          { fail: 'rate_limit', retry_after_ms: 30 },
          { fail: 'timeout' },
          ok(),
        ),
      ],
      { humans: { deadline_ms: 400 } },
    ),
    expect: { outcome: 'finalized', reason: 'question_timed_out' },
  },
  {
    name: 'a permanent failure and a person who answers retry',
    request: given([
      step('script.read', { fail: 'auth', message: 'token expired' }, ok()),
      step('script.read', ok('next')),
    ]),
    answers: { 1: answer('retry') },
    expect: { outcome: 'completed' },
  },
  {
    name: 'a person who corrects, and the correction helps',
    request: given([step('script.put', { fail: 'invalid_input' }, ok())]),
    answers: { 1: answer('correct', { text: 'use the other account' }) },
    expect: { outcome: 'completed' },
  },
  {
    name: 'a person who corrects a call that a planner chose: the planner decides again, and the call is not repeated',
    request: { agent: 'listener', goal: 'charge it', policy: { ...QUICK, failures: { escalate_at: 1 } } },
    answers: { 1: answer('correct', { text: 'use the other account' }) },
    expect: {
      outcome: 'completed',
      questions: 1,
      used: { ...NOTHING, steps: 2, attempts: 2, model_calls: 3 },
      failures: { total: 2, active: 2, by_signal: { tool_error: 1, human_correction: 1 } },
    },
  },
  {
    name: 'a person who supersedes the failure that the run asks about',
    request: given([
      step('script.read', { fail: 'auth', code: 'EXPIRED', message: 'token expired' }),
      step('script.read', ok('after')),
    ]),
    whileAsked: { 1: [{ type: 'supersede', body: { fingerprint: EXPIRED, by: 'ada', reason: 'a new server' } }] },
    answers: { 1: answer('skip') },
    expect: { outcome: 'completed', failures: { total: 1, active: 0, by_signal: { tool_error: 1 } } },
  },
  {
    name: 'feedback that rejects the work while the run waits for a person',
    request: given([step('script.read', { fail: 'auth' }, ok())]),
    whileAsked: { 1: [{ type: 'feedback', body: { text: "No, that's wrong.", by: 'ada' } }] },
    answers: { 1: answer('retry') },
    expect: {
      outcome: 'completed',
      failures: { total: 2, active: 1, by_signal: { tool_error: 1, human_correction: 1 } },
    },
  },
  {
    name: 'a person who skips the step',
    request: given([step('script.read', { fail: 'quota' }), step('script.read', ok('after'))]),
    answers: { 1: answer('skip') },
    expect: { outcome: 'completed' },
  },
  {
    name: 'a person who stops the run',
    request: given([step('script.read', ok('kept')), step('script.read', { fail: 'auth' })]),
    answers: { 1: answer('stop') },
    expect: { outcome: 'finalized', reason: 'stopped_by_human' },
  },
  {
    name: 'a person who answers retry three times until no question is left',
    request: given([step('script.read', { fail: 'auth' })]),
    answers: { 1: answer('retry'), 2: answer('retry'), 3: answer('retry') },
    expect: { outcome: 'finalized', reason: 'no_question_left' },
  },
  {
    name: 'a side effect of unknown outcome that a person lets run again',
    request: given([step('script.pay', { fail: 'timeout', certainty: 'unknown' }, ok())]),
    answers: { 1: answer('not_done') },
    expect: { outcome: 'completed', used: { ...NOTHING, steps: 1, attempts: 2 } },
  },
  {
    name: 'a side effect of unknown outcome that a person confirms, with its output for a later step',
    request: given([
      { id: 'paid', ...step('script.pay', { fail: 'timeout', certainty: 'unknown' }) },
      { phase: 'work', tool: 'script.read', input: { attempts: [{ ok: 'got it' }], more: { $step: 'paid' } } },
    ]),
    answers: { 1: answer('done', { text: 'it is on the statement', output: { value: 'receipt 7' } }) },
    expect: { outcome: 'completed', used: { ...NOTHING, steps: 2, attempts: 2 } },
  },
  {
    name: 'a person who confirms with an output that does not fit, and is asked for it again',
    request: given([step('script.pay', { fail: 'timeout', certainty: 'unknown' })]),
    answers: { 1: answer('done', { output: 'a receipt' }), 2: answer('done', { output: { value: 'receipt 7' } }) },
    expect: {
      outcome: 'completed',
      questions: 2,
      result: { output: { value: 'receipt 7' }, artifact_id: RECEIPT_7, loop_id: 'loop_run-1' },
    },
  },
  {
    name: 'a side effect of unknown outcome that a person skips: the identical step asks again, and is not run either',
    request: given([
      step('script.pay', { fail: 'timeout', certainty: 'unknown' }),
      step('script.pay', { fail: 'timeout', certainty: 'unknown' }),
    ]),
    answers: { 1: answer('skip', { text: 'I checked: it happened' }), 2: answer('skip') },
    expect: { outcome: 'completed', questions: 2, used: { ...NOTHING, steps: 2, attempts: 1 } },
  },
  {
    name: 'a planner that repeats a payment of unknown outcome, in the next turn and in the next pass',
    request: {
      agent: 'repeater',
      goal: 'pay at any price',
      policy: { ...QUICK, humans: { deadline_ms: 300, default: 'skip', max_questions: 1 } },
    },
    expect: {
      outcome: 'completed',
      loops: 2,
      questions: 1,
      used: { ...NOTHING, steps: 6, attempts: 3, model_calls: 8 },
    },
  },
  {
    name: 'a planner whose payment a person leaves open, then says is not done, and then confirms',
    request: { agent: 'repeater', goal: 'pay at any price', policy: QUICK },
    answers: { 1: answer('skip'), 2: answer('not_done'), 3: answer('done', { text: 'found it' }) },
    expect: {
      outcome: 'completed',
      loops: 2,
      questions: 3,
      used: { ...NOTHING, steps: 5, attempts: 4, model_calls: 7 },
    },
  },
  {
    name: 'a side effect that is done with an output that breaks its schema, and is never repeated',
    request: given([step('script.pay', { bad_output: true })]),
    answers: { 1: answer('done', { output: { value: 'read from the statement' } }) },
    expect: { outcome: 'completed', used: { ...NOTHING, steps: 1, attempts: 1 } },
  },
  {
    name: 'a side effect of unknown outcome that the tool itself finds done',
    request: given([
      {
        phase: 'work',
        tool: 'script.book',
        input: { attempts: [{ fail: 'timeout', certainty: 'unknown' }], reconciled: 'done' },
      },
    ]),
    expect: { outcome: 'completed' },
  },
  {
    name: 'a side effect that the tool itself finds not done, so it is tried again',
    request: given([
      {
        phase: 'work',
        tool: 'script.book',
        input: { attempts: [{ fail: 'network', certainty: 'unknown' }, { ok: 'now' }], reconciled: 'not_done' },
      },
    ]),
    expect: { outcome: 'completed' },
  },
  {
    name: 'an output that breaks its schema until no repair is left',
    request: given([step('script.read', { bad_output: true })]),
    expect: { outcome: 'system_error', reason: 'INVALID_OUTPUT' },
  },
  {
    name: 'a pointer to something that is not there',
    request: given([
      { phase: 'work', tool: 'script.read', input: { attempts: [{ ok: 1 }], more: { $artifact: 'f'.repeat(64) } } },
    ]),
    expect: { outcome: 'system_error', reason: 'POINTER_UNRESOLVED' },
  },
  {
    name: 'a step that takes the output of an earlier one',
    request: given([
      { id: 'first', ...step('script.read', ok({ found: 7 })) },
      { phase: 'work', tool: 'script.read', input: { attempts: [{ ok: 'got it' }], more: { $step: 'first' } } },
    ]),
    expect: { outcome: 'completed' },
  },
  {
    name: 'four steps side by side, two of which fail at first',
    request: given([
      { ...step('script.read', ok('a')), id: 'a', after: [] },
      { ...step('script.read', { fail: 'server_error' }, ok('b')), id: 'b', after: [] },
      { ...step('script.put', { fail: 'network' }, { fail: 'network' }, ok('c')), id: 'c', after: [] },
      { ...step('script.read', ok('d')), id: 'd', after: [] },
      { ...step('script.read', ok('e')), after: ['a', 'b', 'c', 'd'] },
    ]),
    expect: { outcome: 'completed' },
  },
  {
    name: 'two steps side by side that both need a person',
    request: given([
      { ...step('script.read', { fail: 'auth' }, ok('a')), id: 'a', after: [] },
      { ...step('script.read', { fail: 'quota' }, ok('b')), id: 'b', after: [] },
    ]),
    answers: { 1: answer('retry'), 2: answer('skip') },
    expect: { outcome: 'completed' },
  },
  {
    name: 'an approval that is given',
    request: given([step('script.launch', ok('up'))]),
    answers: { 1: answer('approve') },
    expect: { outcome: 'completed' },
  },
  {
    name: 'two approvals with another input than the planned one, which the calls then run with',
    request: given([step('script.launch', ok('planned')), step('script.launch', ok('also planned'))]),
    answers: {
      1: answer('approve', { input: { attempts: [ok('changed')] } }),
      2: answer('approve', { input: { attempts: [ok('changed too')], more: 1 } }),
    },
    expect: {
      outcome: 'completed',
      result: {
        output: { value: 'changed too' },
        artifact_id: sha256Hex('{"value":"changed too"}'),
        loop_id: 'loop_run-1',
      },
    },
  },
  {
    name: 'two approvals of one batch that people turn into the same side effect, which then runs twice, one after the other',
    request: given([
      { ...step('script.launch', ok('one')), id: 'a', after: [] },
      { ...step('script.launch', ok('two')), id: 'b', after: [] },
    ]),
    answers: {
      1: answer('approve', { input: { attempts: [ok('same')] } }),
      2: answer('approve', { input: { attempts: [ok('same')] } }),
    },
    expect: { outcome: 'completed' },
  },
  {
    name: 'an approval that is denied',
    request: given([step('script.launch', ok('up')), step('script.read', ok('anyway'))]),
    answers: { 1: answer('deny') },
    expect: { outcome: 'completed' },
  },
  {
    name: 'a budget of two attempts against a server that is always unavailable',
    request: given([step('script.read', { fail: 'server_error' })], { budget: { max_attempts: 2 } }),
    expect: { outcome: 'budget_exhausted', reason: 'attempts' },
  },
  {
    name: 'a budget of steps that the plan does not fit into',
    request: given([step('script.read', ok(1)), step('script.read', ok(2)), step('script.read', ok(3))], {
      budget: { max_steps: 2 },
    }),
    expect: { outcome: 'budget_exhausted', reason: 'steps' },
  },
  {
    name: 'a planner that stops in time because it is told that a budget runs out',
    request: { agent: 'thrifty', goal: 'do as much as you can', policy: { ...QUICK, budget: { max_steps: 5 } } },
    expect: { outcome: 'completed', used: { ...NOTHING, steps: 4, attempts: 4, model_calls: 5 } },
  },
  {
    name: 'invalid messages, one feedback message and a pending override',
    // It waits for an approval, so that all of them are there before it ends.
    request: given([step('script.launch', ok())]),
    answers: { 1: answer('approve') },
    atOnce: [
      { type: 'feedback', body: { text: 42 } },
      { type: 'answer', body: 'not even an object' },
      { type: 'feedback', body: { text: 'looks good so far', by: 'ada' } },
      { type: 'override', body: { override_fatigue: true, override_by: 'ada' } },
    ],
    expect: { outcome: 'completed' },
  },
  {
    name: 'a planner that fails, is sent back by the review and does better in its second pass',
    request: { agent: 'chooser', goal: 'find a way', policy: QUICK },
    expect: {
      outcome: 'completed',
      loops: 2,
      result: { output: { found: true }, artifact_id: null, loop_id: 'loop_run-1_r1' },
    },
  },
  {
    name: 'a planner that recovers in another way and needs no second pass',
    request: { agent: 'adapter', goal: 'find a way', policy: QUICK },
    expect: { outcome: 'completed', loops: 1 },
  },
  {
    name: 'a planner that reads what a failed call printed, and mends exactly that',
    request: { agent: 'tester', goal: 'make the tests pass', policy: QUICK },
    expect: {
      outcome: 'completed',
      loops: 1,
      used: { ...NOTHING, steps: 2, attempts: 2, model_calls: 3 },
    },
  },
  {
    name: 'a second pass that would pay again and gets the receipt of the first pass',
    request: { agent: 'payer', goal: 'pay once', policy: QUICK },
    expect: {
      outcome: 'completed',
      loops: 2,
      // Two calls in the first pass, and in the second only the one that had failed.
      used: { steps: 4, attempts: 3, model_calls: 6, tokens: 0, cost_micro_usd: 0, seconds: 0 },
    },
  },
  {
    name: 'a planner that meets the same failure too often, and a person who stops it',
    request: { agent: 'stubborn', goal: 'never learn', policy: QUICK },
    answers: { 1: answer('stop') },
    expect: { outcome: 'finalized', reason: 'stopped_by_human' },
  },
  {
    name: 'a guard that asks before it ends the run: one more pass, and then no more',
    request: {
      agent: 'never_content',
      goal: 'please it',
      policy: { ...QUICK, reruns: { max_reruns: 0, on_guard: 'ask_human' } },
    },
    answers: { 1: answer('retry'), 2: answer('stop') },
    expect: { outcome: 'finalized', reason: 'max_reruns_reached', loops: 2 },
  },
  {
    name: 'a guard that asks, and a person who stops the run although an override has arrived',
    request: {
      agent: 'never_content',
      goal: 'please it',
      policy: { ...QUICK, reruns: { max_reruns: 0, on_guard: 'ask_human' } },
    },
    whileAsked: { 1: [{ type: 'override', body: { override_max_reruns: true, override_by: 'bob' } }] },
    answers: { 1: answer('stop') },
    expect: { outcome: 'finalized', reason: 'max_reruns_reached', loops: 1, failures: NO_FAILURES },
  },
  {
    name: 'a guard that asks, and an override that arrives while nobody answers',
    request: {
      agent: 'never_content',
      goal: 'please it',
      policy: {
        ...QUICK,
        reruns: { max_reruns: 0, on_guard: 'ask_human' },
        humans: { deadline_ms: 2_000, max_questions: 1 },
      },
    },
    whileAsked: {
      1: [
        {
          type: 'override',
          body: { override_max_reruns: true, override_by: 'bob', override_reason: 'the totals are missing' },
        },
      ],
    },
    expect: {
      outcome: 'finalized',
      reason: 'max_reruns_reached',
      loops: 2,
      failures: { total: 1, active: 1, by_signal: { human_correction: 1 } },
    },
  },
  {
    name: 'a guard that asks, and nobody who answers',
    request: {
      agent: 'never_content',
      goal: 'please it',
      policy: { ...QUICK, reruns: { max_reruns: 0, on_guard: 'ask_human' }, humans: { deadline_ms: 300 } },
    },
    expect: { outcome: 'finalized', reason: 'max_reruns_reached', loops: 1 },
  },
  {
    name: 'a planner that reads the same again and again, and a person who stops it',
    request: { agent: 'reader', goal: 'read on', policy: QUICK },
    answers: { 1: answer('stop') },
    expect: { outcome: 'finalized', reason: 'stopped_by_human' },
  },
  {
    name: 'a planner that may continue once and is stuck again',
    request: { agent: 'reader', goal: 'read on', policy: QUICK },
    answers: { 1: answer('retry') },
    expect: { outcome: 'system_error', reason: 'LOOP_STALL' },
  },
  {
    name: 'a planner that goes round in circles of three calls',
    request: { agent: 'circler', goal: 'go round', policy: { ...QUICK, humans: { deadline_ms: 400 } } },
    expect: { outcome: 'finalized', reason: 'question_timed_out' },
  },
  {
    name: 'a planner whose searches are ever other ones and find nothing',
    request: { agent: 'seeker', goal: 'seek', policy: QUICK },
    answers: { 1: answer('stop') },
    expect: { outcome: 'finalized', reason: 'stopped_by_human' },
  },
  {
    name: 'a planner that asks for six equal calls at once',
    request: { agent: 'flooder', goal: 'all at once', policy: QUICK },
    expect: { outcome: 'completed' },
  },
  {
    name: 'a planner that only repeats the same message',
    request: { agent: 'talker', goal: 'talk', policy: QUICK },
    answers: { 1: answer('retry') },
    expect: { outcome: 'system_error', reason: 'LOOP_STALL' },
  },
  {
    name: 'a stuck planner in observe mode that runs until its budget ends',
    request: { agent: 'reader', goal: 'read on', policy: { ...QUICK, mode: 'observe', budget: { max_steps: 9 } } },
    expect: { outcome: 'budget_exhausted', reason: 'steps' },
  },
  {
    name: 'a planner that names a tool that does not exist, until no repair is left',
    request: { agent: 'inventor', goal: 'invent', policy: QUICK },
    expect: { outcome: 'system_error', reason: 'INVALID_PLAN' },
  },
  {
    name: 'two agents asked at once, then one that uses up its share of the budget',
    request: { agent: 'boss', goal: 'let others do it', policy: QUICK },
    // Three of its four steps were right, which is enough.
    expect: { outcome: 'completed', reason: 'thresholds_met' },
  },
  {
    name: 'a given plan with a step that another agent does',
    request: {
      agent: 'boss',
      goal: 'by plan',
      plan: {
        steps: [
          { id: 'look', phase: 'work', tool: 'scout', input: { goal: 'east', input: 7 } },
          { phase: 'work', tool: 'script.read', input: { attempts: [{ ok: 1 }], more: { $step: 'look' } } },
        ],
      },
      policy: QUICK,
    },
    expect: {
      outcome: 'completed',
      used: { steps: 3, attempts: 3, model_calls: 2, tokens: 150, cost_micro_usd: 0, seconds: 0 },
    },
  },
];
