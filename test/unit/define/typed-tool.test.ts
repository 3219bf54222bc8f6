/** What a tool takes and gives has the types of its schemas, also after it is made; lists hold tools of all types. */
import { describe, expect, expectTypeOf, it } from 'vitest';
import { z } from 'zod';
import { askReviewer } from '../../../src/activities/review.ts';
import type { ReviewView } from '../../../src/core/run/ports.ts';
import { type Agent, defineAgent, type Reviewer } from '../../../src/define/define-agent.ts';
import { defineTool, type Tool } from '../../../src/define/define-tool.ts';
import { modelReviewer } from '../../../src/model/model-reviewer.ts';
import type { Json } from '../../../src/protocol/json.ts';
import type { CommandOutput } from '../../../src/define/command/command-output.ts';
import { commandTool } from '../../../src/define/command/command-tool.ts';
import type { HttpOutput } from '../../../src/define/http/http-output.ts';
import { httpTool } from '../../../src/define/http/http-tool.ts';
import { quietEnvironment } from '../../support/thinking.ts';

const length = defineTool({
  name: 'length',
  effect: 'read',
  input: z.object({ text: z.string(), more: z.number().default(1) }),
  output: z.object({ chars: z.number() }),
  loopKey: ({ text }) => text,
  run: ({ text, more }) => ({ chars: text.length + more }),
});
const input = z.object({ id: z.string() });

describe('the types of a tool', () => {
  it('the types of a tool are those of its schemas', () => {
    expectTypeOf(length).toEqualTypeOf<Tool<{ text: string; more: number }, { chars: number }>>();
    expectTypeOf(length.run).parameter(0).toEqualTypeOf<{ text: string; more: number }>();
    expectTypeOf(length.run({ text: 'abc', more: 2 }, {} as never)).resolves.toEqualTypeOf<{ chars: number }>();
    // @ts-expect-error -- the tool takes something else
    const nonsense = () => length.run({ nonsense: true }, {} as never);
    expect(nonsense).toThrow(TypeError);
  });

  it('the types of a command tool and an HTTP tool are those of their outputs', () => {
    const argv = () => ['true'];
    const request = () => ({ url: 'https://shop.example/' });
    const parts = { name: 'c', effect: 'read', input } as const;
    expectTypeOf(commandTool({ ...parts, argv })).toEqualTypeOf<Tool<{ id: string }, CommandOutput>>();
    expectTypeOf(commandTool({ ...parts, argv, output: 'json' })).toEqualTypeOf<Tool<{ id: string }, Json>>();
    expectTypeOf(commandTool({ ...parts, argv, output: z.number() })).toEqualTypeOf<Tool<{ id: string }, number>>();
    expectTypeOf(httpTool({ ...parts, request })).toEqualTypeOf<Tool<{ id: string }, HttpOutput>>();
    expectTypeOf(httpTool({ ...parts, request, output: 'json' })).toEqualTypeOf<Tool<{ id: string }, Json>>();
    expectTypeOf(httpTool({ ...parts, request, output: z.number() })).toEqualTypeOf<Tool<{ id: string }, number>>();
  });

  it('tools of different types fit into one list', () => {
    const other = defineTool({ name: 'other', effect: 'read', input: z.number(), output: z.string(), run: String });
    const tools: Tool[] = [length, other];
    expect(defineAgent({ name: 'a', tools }).tools).toEqual(defineAgent({ name: 'a', tools: [length, other] }).tools);
  });
});

describe('what a reviewer judges', () => {
  const output = z.object({ price: z.number(), currency: z.string().default('EUR') });
  type Priced = z.infer<typeof output>;
  const seen: unknown[] = [];
  const priced = defineAgent({
    name: 'priced',
    instructions: 'Name the price.',
    tools: [],
    output,
    review: (view) => {
      expectTypeOf(view.output).toEqualTypeOf<Priced | null>();
      seen.push(view.output, view.raw_output);
      return { alignment_score: view.output === null ? 0 : 1, drift_score: 0 };
    },
  });
  const judge = async (agent: Agent, said: Json) => {
    const view = { agent: agent.name, output: said, timeout_ms: 1_000 } as ReviewView;
    const env = { ...quietEnvironment, environment: {}, log: () => {} };
    return askReviewer(agent, view, env);
  };

  it('a reviewer gets the output typed and parsed by the agent’s schema', async () => {
    seen.length = 0;
    expect(await judge(priced, { price: 7 })).toMatchObject({ class: 'ok', review: { alignment_score: 1 } });
    expect(seen).toEqual([{ price: 7, currency: 'EUR' }, { price: 7 }]);
  });

  it('a reviewer gets no typed output if the pass ended with something else, but can see the raw output', async () => {
    seen.length = 0;
    expect(await judge(priced, 'the best I have')).toMatchObject({ class: 'ok', review: { alignment_score: 0 } });
    expect(seen).toEqual([null, 'the best I have']);
  });

  it('a reviewer of an agent without a schema gets any JSON', () => {
    const plain = defineAgent({
      name: 'plain',
      instructions: 'Talk.',
      tools: [],
      review: (view) => {
        expectTypeOf(view.output).toExtend<Json>();
        expectTypeOf<Json>().toExtend<typeof view.output>();
        return { alignment_score: 1, drift_score: 0 };
      },
    });
    const modelled = defineAgent({ ...priced, name: 'modelled', review: modelReviewer() });
    expectTypeOf(modelled).toEqualTypeOf<Agent<Priced>>();
    expectTypeOf<Reviewer<Priced>>().toExtend<Reviewer>();
    const agents: Agent[] = [priced, plain, modelled];
    expect(agents.map(({ name }) => name)).toEqual(['priced', 'plain', 'modelled']);
  });
});
