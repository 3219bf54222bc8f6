/**
 * What the door refuses, by its JSON path, before anything is started. Needs nothing: no server, no store. That a refused
 * request really starts no workflow is shown in test/stack/bad-input.test.ts.
 */
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { defineAgent } from '../../../src/define/define-agent.ts';
import { defineTool } from '../../../src/define/define-tool.ts';
import { prepareRun } from '../../../src/define/prepare-run.ts';
import { createRegistry } from '../../../src/define/registry.ts';
import { CAP } from '../../../src/protocol/caps.ts';
import { DEFAULT_POLICY } from '../../../src/protocol/policy.ts';
import type { RequestProblem } from '../../../src/protocol/run.ts';

const tool = (name: string) =>
  defineTool({
    name,
    effect: 'read',
    input: z.object({ n: z.number().optional(), more: z.json().optional() }),
    output: z.json(),
    run: () => null,
  });
const registry = createRegistry([
  defineAgent({ name: 'clerk', tools: [tool('look'), tool('write')] }),
  defineAgent({ name: 'chooser', tools: [tool('pick')], planner: { choose: () => ({ calls: [] }) } }),
  defineAgent({
    name: 'ready',
    tools: [tool('go')],
    plan: { steps: [{ phase: 'p', tool: 'go', input: {} }] },
    policy: { budget: { max_steps: 7 }, retry: { network: 1 } },
  }),
]);

const look = (over: object = {}) => ({ phase: 'p', tool: 'look', input: {}, ...over });
const asked = (over: object = {}) => ({ agent: 'clerk', goal: 'g', plan: { steps: [look()] }, ...over });
const plan = (...steps: object[]) => asked({ plan: { steps } });
const policy = (patch: object) => asked({ policy: patch });

function problems(request: unknown): RequestProblem[] {
  const outcome = prepareRun(request, registry, 'run-1');
  return outcome.ok ? [] : outcome.problems;
}

const nested = (levels: number, kind: 'list' | 'object'): unknown => {
  let value: unknown = 1;
  for (let level = 0; level < levels; level += 1) value = kind === 'list' ? [value] : { a: value };
  return value;
};
const cyclic: { self?: unknown } = {};
cyclic.self = cyclic;

interface Row {
  what: string;
  request: unknown;
  path: string;
  says: RegExp;
}
const rows: Row[] = [
  { what: 'nothing at all', request: undefined, path: '$', says: /expected JSON/ },
  { what: 'a text', request: 'run please', path: '$', says: /expected object/ },
  { what: 'a list', request: [], path: '$', says: /expected object/ },
  { what: 'no agent', request: { goal: 'g' }, path: '$.agent', says: /expected string/ },
  { what: 'an empty goal', request: asked({ goal: '' }), path: '$.goal', says: /1 char/ },
  { what: 'an endless goal', request: asked({ goal: 'g'.repeat(4_001) }), path: '$.goal', says: /4000/ },
  { what: 'an unknown agent', request: asked({ agent: 'clark' }), path: '$.agent', says: /did you mean clerk\?/ },
  { what: 'an agent with a hostile name', request: asked({ agent: '__proto__' }), path: '$.agent', says: /no agent/ },
  { what: 'an unknown key', request: asked({ gaol: 1 }), path: '$.gaol', says: /did you mean goal\?/ },
  { what: 'no plan where one is needed', request: asked({ plan: undefined }), path: '$.plan', says: /needs a plan/ },

  { what: 'an empty plan', request: plan(), path: '$.plan.steps', says: />=1/ },
  { what: 'a plan without steps', request: asked({ plan: {} }), path: '$.plan.steps', says: /expected array/ },
  {
    what: 'a step more than a plan may have',
    request: plan(...Array.from({ length: CAP.planSteps + 1 }, () => look())),
    path: '$.plan.steps',
    says: new RegExp(`<=${CAP.planSteps} items`),
  },
  {
    what: 'a tool nobody has',
    request: plan(look(), look({ tool: 'wrote' })),
    path: '$.plan.steps[1].tool',
    says: /did you mean write\?/,
  },
  {
    what: 'a tool of another agent',
    request: plan(look({ tool: 'pick' })),
    path: '$.plan.steps[0].tool',
    says: /no tool named pick/,
  },
  {
    what: 'a tool with a hostile name',
    request: plan(look({ tool: 'constructor' })),
    path: '$.plan.steps[0].tool',
    says: /no tool/,
  },
  {
    what: 'a step without input',
    request: plan({ phase: 'p', tool: 'look' }),
    path: '$.plan.steps[0].input',
    says: /./,
  },
  {
    what: 'an input that fails its schema',
    request: plan(look({ input: { n: 'one' } })),
    path: '$.plan.steps[0].input.n',
    says: /expected number/,
  },
  {
    what: 'an input that is no JSON',
    request: plan(look({ input: { n: Number.NaN } })),
    path: '$.plan.steps[0].input',
    says: /./,
  },
  {
    what: 'an id used twice',
    request: plan(look({ id: 'a' }), look({ id: 'b' }), look({ id: 'a' })),
    path: '$.plan.steps[2].id',
    says: /an earlier step has the id/,
  },
  { what: 'an id with a space', request: plan(look({ id: 'a b' })), path: '$.plan.steps[0].id', says: /pattern/ },
  {
    what: 'an after that names nobody',
    request: plan(look({ id: 'first' }), look({ after: ['frist'] })),
    path: '$.plan.steps[1].after[0]',
    says: /did you mean first\?/,
  },
  {
    what: 'a step that waits for itself',
    request: plan(look({ id: 'a', after: ['a'] })),
    path: '$.plan.steps[0].after',
    says: /waits for itself/,
  },
  {
    what: 'a circle of three',
    request: plan(
      look({ id: 'free' }),
      look({ id: 'a', after: ['c'] }),
      look({ id: 'b', after: ['a'] }),
      look({ id: 'c', after: ['b'] }),
    ),
    path: '$.plan.steps[1].after',
    says: /waits for itself/,
  },
  {
    what: 'a $step that names nobody',
    request: plan(look({ input: { more: { $step: 'ghost' } } })),
    path: '$.plan.steps[0].input.more',
    says: /is not a step that this step waits for/,
  },
  {
    what: 'a $step that names itself',
    request: plan(look({ id: 'me', input: { more: { $step: 'me' } } })),
    path: '$.plan.steps[0].input.more',
    says: /is not a step that this step waits for/,
  },
  {
    what: 'a $step that names a later step',
    request: plan(look({ input: { more: [0, { $step: 'later' }] } }), look({ id: 'later' })),
    path: '$.plan.steps[0].input.more[1]',
    says: /is not a step that this step waits for/,
  },
  {
    what: 'a $step that names a step beside it, which may not be done by then',
    request: plan(look({ id: 'a', after: [] }), look({ id: 'b', after: [], input: { more: { $step: 'a' } } })),
    path: '$.plan.steps[1].input.more',
    says: /is not a step that this step waits for/,
  },

  { what: 'a run_id with a slash', request: asked({ run_id: 'a/b' }), path: '$.run_id', says: /pattern/ },
  {
    what: 'a run_id of 129 characters',
    request: asked({ run_id: 'a'.repeat(129) }),
    path: '$.run_id',
    says: /pattern/,
  },
  { what: 'a run_id that is a number', request: asked({ run_id: 7 }), path: '$.run_id', says: /expected string/ },
  { what: 'a loop_id that marks a rerun', request: asked({ loop_id: 'work_r1' }), path: '$.loop_id', says: /rerun/ },
  { what: 'a parent_run_id with a space', request: asked({ parent_run_id: ' ' }), path: '$.parent_run_id', says: /./ },
  { what: 'an empty label', request: asked({ labels: ['a', ''] }), path: '$.labels[1]', says: /1 char/ },
  {
    what: '21 labels',
    request: asked({ labels: Array.from({ length: 21 }, (_, n) => `l${n}`) }),
    path: '$.labels',
    says: /20/,
  },

  {
    what: 'an unknown part of the policy',
    request: policy({ bugdet: {} }),
    path: '$.policy.bugdet',
    says: /did you mean budget\?/,
  },
  {
    what: 'an unknown key of the policy',
    request: policy({ retry: { ratelimit: 1 } }),
    path: '$.policy.retry.ratelimit',
    says: /did you mean rate_limit\?/,
  },
  { what: 'an unknown mode', request: policy({ mode: 'strict' }), path: '$.policy.mode', says: /enforce/ },
  {
    what: 'no steps',
    request: policy({ budget: { max_steps: 0 } }),
    path: '$.policy.budget.max_steps',
    says: /from 1 to/,
  },
  {
    what: 'half a retry',
    request: policy({ retry: { network: 1.5 } }),
    path: '$.policy.retry.network',
    says: /whole number/,
  },
  {
    what: 'fewer than no reruns',
    request: policy({ reruns: { max_reruns: -1 } }),
    path: '$.policy.reruns.max_reruns',
    says: /from 0 to/,
  },
  {
    what: 'more than a year',
    request: policy({ budget: { max_seconds: 1e12 } }),
    path: '$.policy.budget.max_seconds',
    says: /31622400/,
  },
  {
    what: 'a factor that shrinks',
    request: policy({ retry: { factor: 0.5 } }),
    path: '$.policy.retry.factor',
    says: /from 1 to/,
  },
  {
    what: 'a soft mark above the near mark',
    request: policy({ budget: { soft: 0.96 } }),
    path: '$.policy.budget.soft',
    says: /near/,
  },
  {
    what: 'a webhook that is no address',
    request: policy({ humans: { notify: ['mail me'] } }),
    path: '$.policy.humans.notify[0]',
    says: /URL/,
  },

  {
    what: 'more bytes than the cap',
    request: asked({ input: 'ä'.repeat(CAP.runInputBytes / 2) }),
    path: '$',
    says: new RegExp(`over the cap of ${CAP.runInputBytes}`),
  },
  { what: 'a value that contains itself', request: asked({ input: cyclic }), path: '$.input', says: /deeper/ },
  { what: 'a big integer', request: asked({ input: 1n }), path: '$', says: /expected JSON/ },
];

describe('a request is refused with the JSON path when it has', () => {
  it.each(rows)('a request with $what is refused with the JSON path', ({ request, path, says }) => {
    const [first, ...others] = problems(request);
    expect(others).toEqual([]);
    expect(first?.path.slice(0, path.length)).toBe(path);
    expect(first?.message).toMatch(says);
  });

  it('a request with several problems is refused with all of them', () => {
    const paths = problems({
      agent: 'clerk',
      plan: { steps: [{ phase: '', tool: 'look', input: {} }] },
      policy: { x: 1 },
    });
    expect(paths.map((problem) => problem.path)).toEqual(['$.goal', '$.plan.steps[0].phase', '$.policy.x']);
  });
});

describe('very deep JSON', () => {
  const places = {
    input: (value: unknown) => asked({ input: value }),
    'the plan': (value: unknown) => plan(look({ input: { more: value } })),
    'an unknown key': (value: unknown) => asked({ [`x`]: value }),
    'the agent': (value: unknown) => asked({ agent: value }),
  };
  for (const [place, request] of Object.entries(places)) {
    for (const kind of ['list', 'object'] as const) {
      // Around 2,000 to 5,000 levels different parts give out at different depths; all must be refused alike.
      it.each([200, 1_000, 2_000, 3_000, 5_000, 10_000, 200_000])(
        `deep JSON is refused in ${place}: %i levels of ${kind}`,
        (n) => {
          expect(problems(request(nested(n, kind)))).toMatchObject([
            { message: 'nested deeper than 100 levels; flatten it' },
          ]);
        },
      );
    }
  }

  it('the error of deep JSON names where it is too deep', () => {
    expect(problems(asked({ input: { tree: nested(500, 'list') } }))[0]?.path).toMatch(/^\$\.input\.tree\[0\]\[0\]/);
  });

  it('JSON with 90 levels is accepted', () => {
    expect(problems(asked({ input: nested(90, 'object') }))).toEqual([]);
  });
});

describe('a request that is in order', () => {
  it('a valid request is prepared with policy, manifest, limit and loop', () => {
    const outcome = prepareRun({ agent: 'ready', goal: 'g', policy: { retry: { timeout: 0 } } }, registry, 'run-9');
    expect(outcome).toMatchObject({
      ok: true,
      prepared: {
        run_id: 'run-9',
        planner: 'given',
        input: null,
        loop_id: 'loop_run-9',
        labels: [],
        parent_run_id: null,
        manifest: { go: { effect: 'read', timeout_ms: 60_000 } },
        bound: { loops: 7, steps: 7 },
      },
    });
    if (!outcome.ok) return;
    const { retry, budget } = outcome.prepared.policy;
    expect(retry).toEqual({ ...DEFAULT_POLICY.retry, network: 1, timeout: 0 });
    expect(budget).toEqual({ ...DEFAULT_POLICY.budget, max_steps: 7 });
  });

  it('a request with a plan uses it even if the agent has a planner', () => {
    const request = { agent: 'chooser', goal: 'g', plan: { steps: [{ phase: 'p', tool: 'pick', input: {} }] } };
    expect(prepareRun(request, registry, 'r')).toMatchObject({ ok: true, prepared: { planner: 'given' } });
    const free = prepareRun({ agent: 'chooser', goal: 'g' }, registry, 'r');
    expect(free).toMatchObject({ ok: true, prepared: { planner: 'chooses', plan: null } });
  });

  it('a run_id may look like a rerun; its loop id then does not', () => {
    const outcome = prepareRun(asked(), registry, 'work_r1');
    expect(outcome).toMatchObject({ ok: true, prepared: { loop_id: expect.not.stringMatching(/_r\d+$/) } });
  });

  it('a step may point to a step that it waits for through another', () => {
    const steps = [look({ id: 'a' }), look({ id: 'b' }), look({ input: { more: { $step: 'a' } } })];
    expect(problems(plan(...steps))).toEqual([]);
  });

  it('the largest plan is prepared quickly', () => {
    const step = (n: number) => look({ id: `s${n}`, ...(n > 0 && { input: { more: { $step: `s${n - 1}` } } }) });
    const began = performance.now();
    expect(problems(plan(...Array.from({ length: CAP.planSteps }, (_, n) => step(n))))).toEqual([]);
    expect(performance.now() - began).toBeLessThan(5_000);
  });
});
