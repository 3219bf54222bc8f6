/** The guard in the real LangGraph: a model that calls the same failing tool up to 40 times. Needs test/frameworks installed. */
import { BaseChatModel } from '@langchain/core/language_models/chat_models';
import { AIMessage, type BaseMessage } from '@langchain/core/messages';
import type { ChatResult } from '@langchain/core/outputs';
import { tool } from '@langchain/core/tools';
import { createReactAgent, ToolNode } from '@langchain/langgraph/prebuilt';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { createGuard, type Guard, guardLangChain, GuardStopError } from '../../src/guard.ts';
import { DOOM_CALLS, DOOM_REPORT } from '../unit/guard/doom-loop.ts';

/** Calls the tool until it has called it 40 times, and keeps what it was sent. */
class DoomedModel extends BaseChatModel {
  readonly requests: string[] = [];
  override _llmType(): string {
    return 'doomed';
  }
  override bindTools(): this {
    return this;
  }
  override _generate(messages: BaseMessage[]): Promise<ChatResult> {
    this.requests.push(JSON.stringify(messages.map(({ content }) => content)));
    const n = this.requests.length;
    const call = { id: `call-${n}`, name: 'read_file', args: { path: 'a.txt' }, type: 'tool_call' as const };
    const isOver = n > DOOM_CALLS;
    const message = new AIMessage({ content: isOver ? 'I give up.' : '', tool_calls: isOver ? [] : [call] });
    return Promise.resolve({ generations: [{ text: '', message }] });
  }
}

const drive = async (guard: Guard) => {
  let ran = 0;
  const readFile = tool(
    ({ path }: { path: string }): string => {
      ran += 1;
      throw new Error(`${path}: permission denied`);
    },
    { name: 'read_file', description: 'Reads a file', schema: z.object({ path: z.string() }) },
  );
  const llm = new DoomedModel({});
  const tools = new ToolNode(guardLangChain(guard, [readFile]), { handleToolErrors: false });
  const agent = createReactAgent({ llm, tools });
  const input = { messages: [{ role: 'user', content: 'Read a.txt' }] };
  const end: unknown = await agent.invoke(input, { recursionLimit: 200 }).catch((error: unknown) => error);
  return { ran, llm, end };
};

describe('LangGraph', () => {
  it('a doom loop of 40 is stopped in enforce at the call that inspect names', async () => {
    const { ran, end } = await drive(createGuard({ agent: 'coder' }));
    expect(ran).toBe(3);
    expect(end).toBeInstanceOf(GuardStopError);
    expect(end).toMatchObject({ verdict: 'stop', loop: { would_stop_at: 3 } });
  });

  it('the loop runs to 40 in observe, with the same report as everywhere', async () => {
    const guard = createGuard({ agent: 'coder', mode: 'observe' });
    const { ran, end } = await drive(guard);
    expect(ran).toBe(DOOM_CALLS);
    expect((end as { messages: BaseMessage[] }).messages.at(-1)?.content).toBe('I give up.');
    expect(guard.report()).toEqual(DOOM_REPORT);
  });

  it('in guide the model reads the guidance at the end of the failed call, in its next request', async () => {
    const { ran, llm } = await drive(createGuard({ agent: 'coder', mode: 'guide' }));
    expect(ran).toBe(DOOM_CALLS);
    expect(llm.requests[2]).not.toContain('[secondwind]');
    expect(llm.requests[3]).toMatch(/permission denied\\n\\n\[secondwind\] /);
  });

  it('a message of a tool keeps its class, and guidance is at its end', async () => {
    const list = tool(() => 'nothing new', { name: 'list', description: 'Lists', schema: z.object({}) });
    const [guarded] = guardLangChain(createGuard({ agent: 'coder', mode: 'guide' }), [list], { list: 'read' });
    const call = (n: number) => ({ id: `call-${n}`, name: 'list', args: {}, type: 'tool_call' as const });
    const outputs: BaseMessage[] = [];
    for (let n = 0; n < 3; n += 1) outputs.push((await guarded?.invoke(call(n))) as BaseMessage);
    expect(outputs.map((message) => message.getType())).toEqual(['tool', 'tool', 'tool']);
    expect(outputs[1]?.content).toBe('nothing new');
    expect(outputs[2]?.content).toMatch(/^nothing new\n\n\[secondwind\] /);
  });
});
