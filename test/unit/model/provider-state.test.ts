/** Reasoning and its signatures go back to the model that said them, byte by byte. Real sockets; needs nothing. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text as readText } from 'node:stream/consumers';
import { afterEach, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { createRedactor } from '../../../src/core/redaction/redact.ts';
import type { AssistantMessage } from '../../../src/core/transcript/message.ts';
import { replaceFailedTail } from '../../../src/core/transcript/failed-tail.ts';
import { defineAgent } from '../../../src/define/define-agent.ts';
import { defineTool } from '../../../src/define/define-tool.ts';
import { cleanState, orderedParts, toProviderState } from '../../../src/model/provider-state.ts';
import { scriptedModel } from '../../../src/testing.ts';
import { liveThinking } from '../../support/thinking.ts';

const closing: (() => Promise<void>)[] = [];
afterEach(async () => {
  await Promise.all(closing.splice(0).map((close) => close()));
});

const add = defineTool({
  name: 'add',
  effect: 'read',
  input: z.object({ a: z.number(), b: z.number() }),
  output: z.number(),
  run: ({ a, b }) => a + b,
});

interface Asked {
  messages: Record<string, unknown>[];
}

/** A server that says one thing after another and keeps what it was asked. */
async function serveMessages(messages: object[]): Promise<{ url: string; asked: Asked[] }> {
  const asked: Asked[] = [];
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const body = await readText(request);
    const message = { role: 'assistant', content: null, ...messages[asked.length] };
    asked.push(JSON.parse(body) as Asked);
    const usage = { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 };
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify({ id: 'x', model: 'm', choices: [{ index: 0, message }], usage }));
  };
  const server = createServer((request, response) => void answer(request, response));
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  closing.push(
    () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  );
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`, asked };
}

const calling = (id: string, more: object = {}) => ({
  id,
  type: 'function',
  function: { name: 'add', arguments: '{"a":1,"b":2}' },
  ...more,
});
const live = (url: string) =>
  liveThinking([defineAgent({ name: 'x', instructions: 'do', model: { base_url: url, model: 'm' }, tools: [add] })]);

describe('what an endpoint wants back', () => {
  it('the state of an endpoint is sent back with its message and its calls, unchanged', async () => {
    const signature = { extra_content: { google: { thought_signature: 'U0lHMTIz+/==' } } };
    const details = [{ type: 'reasoning.encrypted', data: 'ZGF0YQ==' }];
    const { url, asked } = await serveMessages([
      { reasoning_content: 'thinking hard', reasoning_details: details, tool_calls: [calling('c1', signature)] },
      { content: 'done' },
    ]);
    const { result } = await live(url);
    expect(result?.outcome).toBe('completed');
    const said = asked[1]?.messages.find(({ role }) => role === 'assistant');
    expect(said).toMatchObject({
      reasoning_content: 'thinking hard',
      reasoning_details: details,
      tool_calls: [{ id: 'c1', ...signature }],
    });
  });

  it('an endpoint without state gets none back', async () => {
    const { url, asked } = await serveMessages([{ tool_calls: [calling('c1')] }, { content: 'done' }]);
    await live(url);
    const said = asked[1]?.messages.find(({ role }) => role === 'assistant');
    expect(Object.keys(said ?? {}).sort()).toEqual(['content', 'role', 'tool_calls']);
  });
});

describe('what a model object wants back', () => {
  it('the state of a model object is sent back in its order, with its signatures', async () => {
    const scripted = scriptedModel([
      { text: 'I add.', calls: [{ tool: 'add', input: { a: 1, b: 2 } }] },
      { text: 'ok' },
    ]);
    const prompts: Parameters<typeof scripted.doGenerate>[0]['prompt'][] = [];
    const signed = { anthropic: { signature: 'c2lnbmVk' } };
    const model: typeof scripted = {
      ...scripted,
      doGenerate: async (options) => {
        prompts.push(options.prompt);
        const answer = await scripted.doGenerate(options);
        if (prompts.length > 1) return answer;
        const [text, ...calls] = answer.content;
        if (text === undefined) throw new Error('the script says something');
        const reasoning = { type: 'reasoning' as const, text: 'first one, then two', providerMetadata: signed };
        const named = calls.map((call) => ({ ...call, providerMetadata: { openai: { itemId: 'fc_1' } } }));
        return { ...answer, content: [reasoning, text, ...named] };
      },
    };
    const { result } = await liveThinking([defineAgent({ name: 'x', instructions: 'do', model, tools: [add] })]);
    expect(result?.outcome).toBe('completed');
    const said = prompts[1]?.find(({ role }) => role === 'assistant');
    expect(said?.content).toMatchObject([
      { type: 'reasoning', text: 'first one, then two', providerOptions: signed },
      { type: 'text', text: 'I add.' },
      { type: 'tool-call', toolName: 'add', providerOptions: { openai: { itemId: 'fc_1' } } },
    ]);
  });
});

describe('kept state', () => {
  const redact = createRedactor(['word-that-nobody-sees']);

  it('a secret in unsigned state is masked, and signed state with a secret is left out', () => {
    const text = 'it is word-that-nobody-sees';
    const plain = { from: 'm', parts: [{ type: 'reasoning' as const, text }] };
    expect(cleanState(plain, redact)).toEqual({
      from: 'm',
      parts: [{ type: 'reasoning', text: 'it is [redacted:known]' }],
    });
    const signed = { from: 'm', parts: [{ type: 'reasoning' as const, text, options: { a: { signature: 's' } } }] };
    expect(cleanState(signed, redact)).toBeNull();
    const harmless = { from: 'm', options: { openaiCompatible: { reasoning: 'fine' } }, parts: [] };
    expect(cleanState(harmless, redact)).toBe(harmless);
  });

  it('the state of a provider has a cap', () => {
    expect(toProviderState({ parts: [{ type: 'reasoning', text: 'x'.repeat(300_000) }] }, 'm', [])).toBeNull();
  });

  it('the state of a provider goes to no other model, and its signature outlives the call that carried it', () => {
    const assistant: AssistantMessage = {
      role: 'assistant',
      text: '',
      calls: ['c1', 'c2'].map((call_id) => ({ call_id, tool: 'add', input: {} })),
      state: {
        from: 'm',
        parts: [
          { type: 'call', call_id: 'c1', options: { google: { thoughtSignature: 's' } } },
          { type: 'call', call_id: 'c2' },
        ],
      },
    };
    expect(orderedParts(assistant, 'm')[1]).toMatchObject({ call_id: 'c1', options: { google: {} } });
    expect(JSON.stringify(orderedParts(assistant, 'another'))).not.toContain('thoughtSignature');
    const { messages } = replaceFailedTail(
      [
        { role: 'user', text: 'go' },
        assistant,
        { role: 'tool', call_id: 'c1', tool: 'add', output: 'no', failed: true },
        { role: 'tool', call_id: 'c2', tool: 'add', output: 3 },
      ],
      'Do it differently.',
    );
    expect(messages[1]).toMatchObject({
      calls: [{ call_id: 'c2' }],
      state: { parts: [{ type: 'call', call_id: 'c2', options: { google: { thoughtSignature: 's' } } }] },
    });
  });
});
