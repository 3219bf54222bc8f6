/** What an agent hands back has the type of its schema, from its definition to the client's result. */
import { describe, expect, expectTypeOf, it } from 'vitest';
import { z } from 'zod';
import type { SecondwindClient } from '../../../src/client/secondwind-client.ts';
import { typedResult } from '../../../src/client/typed-result.ts';
import type { RunEnd } from '../../../src/client/views.ts';
import { type Agent, defineAgent } from '../../../src/define/define-agent.ts';
import { createRegistry } from '../../../src/define/registry.ts';
import type { Json } from '../../../src/protocol/json.ts';
import type { RunResult } from '../../../src/protocol/run.ts';

const priced = defineAgent({
  name: 'priced',
  instructions: 'Name the price.',
  tools: [],
  output: z.object({ price: z.number(), currency: z.string().default('EUR') }),
});
const plain = defineAgent({ name: 'plain', instructions: 'Talk.', tools: [] });

const ended = (output: Json, outcome: RunResult['outcome'] = 'completed'): RunResult =>
  ({ run_id: 'run-1', outcome, result: { output, artifact_id: null, loop_id: 'l' } }) as unknown as RunResult;

describe('the type of an agent’s output', () => {
  it("the type of an agent's output follows its schema up to the client", () => {
    expectTypeOf(priced).toEqualTypeOf<Agent<{ price: number; currency: string }>>();
    const ofPriced = ({ runs }: SecondwindClient) => runs.result('run-1', { agent: priced });
    expectTypeOf(ofPriced).returns.resolves.toEqualTypeOf<RunEnd<{ price: number; currency: string }>>();
  });

  it('the type of an output is any JSON without a schema, and without the agent', () => {
    const ofPlain = ({ runs }: SecondwindClient) => runs.result('run-1', { agent: plain });
    const ofAnybody = ({ runs }: SecondwindClient) => runs.result('run-1');
    expectTypeOf(ofPlain).returns.resolves.toEqualTypeOf<RunEnd>();
    expectTypeOf(ofAnybody).returns.resolves.toEqualTypeOf<RunEnd>();
  });

  it('agents with different output types fit into one registry', () => {
    expect([...createRegistry([priced, plain]).agents.keys()]).toEqual(['priced', 'plain']);
  });
});

describe('a typed result', () => {
  it('a typed result is parsed by the schema', () => {
    expect(typedResult(ended({ price: 7 }), priced).result?.output).toEqual({ price: 7, currency: 'EUR' });
    expect(typedResult(ended('words'), plain).result?.output).toBe('words');
  });

  it('a stopped run with another output has no typed result', () => {
    expect(typedResult(ended('the best I have', 'budget_exhausted'), priced).result).toBeNull();
  });

  it('a completed run with another output throws an error with a next step', () => {
    expect(() => typedResult(ended({ cost: 7 }), priced)).toThrow(
      /does not match the schema of the agent priced: \$\.price/,
    );
  });
});
