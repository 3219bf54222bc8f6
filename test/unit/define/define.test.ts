/** Defining tools and agents: what is refused at once, in the author's own process, and what a manifest says. */
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { defineAgent, manifestOf } from '../../../src/define/define-agent.ts';
import { defineTool } from '../../../src/define/define-tool.ts';
import { createRegistry } from '../../../src/define/registry.ts';

const parts = { effect: 'read' as const, input: z.json(), output: z.json(), run: () => null };

describe('a tool', () => {
  it.each(['', '1st', 'has space', 'ünicode', 'a/b', 'a'.repeat(65)])('a tool cannot be named "%s"', (name) => {
    expect(() => defineTool({ name, ...parts })).toThrow(TypeError);
  });

  it.each(['a', 'demo.flaky', 'web_search-2', 'A'.repeat(64)])('a tool can be named "%s"', (name) => {
    expect(defineTool({ name, ...parts }).manifest.name).toBe(name);
  });

  it.each([0, -1, 1.5, Number.NaN, Number.POSITIVE_INFINITY])('a tool cannot have a timeout of %d ms', (timeoutMs) => {
    expect(() => defineTool({ name: 'slow', timeoutMs, ...parts })).toThrow(/timeoutMs of the tool slow/);
  });

  it('a tool has a manifest of plain JSON, with defaults', () => {
    const { manifest } = defineTool({ name: 'plain', ...parts });
    expect(manifest).toEqual({
      name: 'plain',
      effect: 'read',
      kind: 'action',
      min_confidence: 0.5,
      timeout_ms: 60_000,
      approval: false,
      reconcile: false,
      evaluates: false,
      schema_hash: expect.stringMatching(/^[0-9a-f]{64}$/),
    });
    expect(JSON.parse(JSON.stringify(manifest))).toEqual(manifest);
  });

  it('the manifest names the argument that says how many items a call returns', () => {
    const page = (input: z.ZodType, more: object = {}) =>
      defineTool({ name: 't', ...parts, input, ...more }).manifest.page;
    expect(page(z.object({ q: z.string(), limit: z.int().default(500) }))).toEqual({ argument: 'limit', size: 500 });
    expect(page(z.object({ per_page: z.number().optional(), limit: z.int() }))).toEqual({ argument: 'per_page' });
    expect(page(z.object({ limit: z.string() }))).toBeUndefined();
    // A limit may mean something else to a tool that changes things, unless its author says what it means.
    expect(page(z.object({ limit: z.int() }), { effect: 'idempotent' })).toBeUndefined();
    expect(page(z.object({ rows: z.int() }), { effect: 'idempotent', pageArgument: 'rows' })).toEqual({
      argument: 'rows',
    });
  });

  it('the schema hash of a tool changes only if its schema changes', () => {
    const hash = (input: z.ZodType, run: () => null = () => null) =>
      defineTool({ name: 't', ...parts, input, run }).manifest.schema_hash;
    const before = hash(z.object({ a: z.string(), b: z.number() }));
    expect(
      hash(z.object({ a: z.string(), b: z.number() }), () => {
        throw new Error('other code');
      }),
    ).toBe(before);
    expect(hash(z.object({ a: z.string(), b: z.string() }))).not.toBe(before);
  });

  it('a tool may have a schema that JSON Schema cannot express', () => {
    const input = z.string().transform((text) => text.length);
    expect(() => defineTool({ ...parts, name: 'length', input })).not.toThrow();
  });
});

describe('an agent', () => {
  const refusalOf = (definition: object): string => {
    try {
      defineAgent(definition as never);
      return 'accepted';
    } catch (error) {
      expect(error).toBeInstanceOf(TypeError);
      return (error as TypeError).message;
    }
  };

  it.each<[object, string]>([
    [{ policy: { budget: { max_step: 3 } } }, '$.policy.budget.max_step: unknown key; did you mean max_steps?'],
    [{ policy: { budgets: {} } }, '$.policy.budgets: unknown key; did you mean budget?'],
    [{ policy: { mode: 'enfroce' } }, '$.policy.mode: '],
    [{ policy: { budget: { max_steps: -5 } } }, '$.policy.budget.max_steps: '],
    [{ policy: { budget: { max_tokens: 'many' } } }, '$.policy.budget.max_tokens: '],
    [{ name: '' }, 'The agent (without a name) is invalid: $.name: expected a letter or digit'],
    [{ name: 'a b/ü' }, '$.name: expected a letter or digit'],
    [{ instruction: 'Look.' }, '$.instruction: unknown key; did you mean instructions?'],
    [{ maxOutputTokens: 0 }, '$.maxOutputTokens: '],
    [{ maxOutputTokens: Number.NaN }, '$.maxOutputTokens: '],
    [{ tools: undefined }, '$.tools: expected a list of tools; use [] for none'],
    [{ tools: [{ name: 'bare' }] }, '$.tools[0]: expected a tool made by defineTool'],
    [{ output: { price: 'number' } }, '$.output: expected a zod schema'],
    [{ model: '' }, '$.model: expected the name of a model'],
    [{ prices: { m: { input: 0.15, output: 1 } } }, '$.prices.m.input: expected whole micro-USD'],
    [
      { plan: { steps: [{ phase: 'p', tools: 't', input: {} }] } },
      '$.plan.steps[0].tools: unknown key; did you mean tool?',
    ],
    [{ plan: { steps: [{ phase: 'p', tool: 'nobody', input: {} }] } }, '$.plan.steps[0].tool: no tool named nobody'],
    [{ planner: () => ({ calls: [] }) }, '$.planner: expected an object with a function choose(view)'],
    [{ review: 'sage' }, '$.review: expected a function'],
    [
      { instructions: 'Look.', planner: { choose: () => ({ calls: [] }) } },
      '$.planner: an agent has either instructions for a model or a planner',
    ],
  ])('an agent with %j is refused', (part, told) => {
    expect(refusalOf({ name: 'a', tools: [], ...part })).toContain(told);
  });

  it('the error of an invalid agent lists every problem', () => {
    const wrong = { name: '', instruction: 'Look.', policy: { mode: 'enfroce', budget: { max_steps: -5 } } };
    const told = refusalOf(wrong);
    for (const path of ['$.name', '$.instruction', '$.tools', '$.policy.mode', '$.policy.budget.max_steps']) {
      expect(told).toContain(`${path}: `);
    }
  });

  it('an agent needs only a name and tools', () => {
    expect(defineAgent({ name: 'a', tools: [] }).name).toBe('a');
  });
});

describe('an agent and a registry', () => {
  const one = defineTool({ name: 'one', ...parts });
  const other = defineTool({ name: 'one', ...parts });

  it('two tools of an agent cannot have the same name', () => {
    expect(() => defineAgent({ name: 'a', tools: [one, other] })).toThrow(/two tools are named one/);
  });

  it('two agents cannot have the same name', () => {
    const agent = defineAgent({ name: 'a', tools: [] });
    expect(() => createRegistry([agent, { ...agent }])).toThrow(/Two agents are named a/);
  });

  it('two different tools of two agents cannot have the same name, because one activity serves both', () => {
    const agents = [defineAgent({ name: 'a', tools: [one] }), defineAgent({ name: 'b', tools: [other] })];
    expect(() => createRegistry(agents)).toThrow(/Two different tools are named one \(agents: .+ and .+\)/);
  });

  it('two agents can share a tool', () => {
    const agents = [defineAgent({ name: 'a', tools: [one] }), defineAgent({ name: 'b', tools: [one] })];
    const registry = createRegistry(agents);
    expect([...registry.tools.keys()]).toEqual(['one']);
    expect(agents.map((agent) => manifestOf(agent))).toEqual([{ one: one.manifest }, { one: one.manifest }]);
  });
});
