/** The scripted model over a real socket, asked by the official `openai` client and by the AI SDK. Needs nothing. */
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { generateText, jsonSchema, type LanguageModel, Output, streamText, tool } from 'ai';
import OpenAI, { APIError } from 'openai';
import { afterEach, describe, expect, it } from 'vitest';
import {
  type Script,
  scriptedModel,
  type ScriptedServer,
  type ScriptedTurn,
  serveScriptedModel,
} from '../../../src/testing.ts';

const open: ScriptedServer[] = [];
async function serve(script: Script): Promise<ScriptedServer> {
  const server = await serveScriptedModel(script);
  open.push(server);
  return server;
}
afterEach(async () => {
  await Promise.all(open.splice(0).map((server) => server.close()));
});

const officialClient = (server: ScriptedServer): OpenAI =>
  new OpenAI({ baseURL: server.url, apiKey: 'any', maxRetries: 0 });
const sdkModel = (server: ScriptedServer): LanguageModel =>
  createOpenAICompatible({
    name: 'scripted',
    baseURL: server.url,
    apiKey: 'any',
    includeUsage: true,
    supportsStructuredOutputs: true,
  })('scripted');

const weather = {
  type: 'function' as const,
  function: {
    name: 'weather',
    description: 'The weather of a town',
    parameters: { type: 'object', properties: { town: { type: 'string' } }, required: ['town'] },
  },
};
const sdkTools = { weather: tool({ inputSchema: jsonSchema(weather.function.parameters as never) }) };
const question = { role: 'user' as const, content: 'How is the weather?' };
const ask = { model: 'scripted', messages: [question] };

const twoCalls: ScriptedTurn = {
  text: 'Let me look.',
  calls: [
    { tool: 'weather', input: { town: 'Bern' } },
    { tool: 'weather', input: { town: 'Basel' } },
  ],
  usage: { inputTokens: 11, outputTokens: 7 },
};

describe('the official client', () => {
  it('the official client lists the model and gets a plain answer with its usage', async () => {
    const server = await serve([{ text: 'Fine.', usage: { inputTokens: 5, outputTokens: 2 } }]);
    const client = officialClient(server);
    const models = await client.models.list();
    expect(models.data.map((model) => model.id)).toEqual(['scripted']);
    const answer = await client.chat.completions.create(ask);
    expect(answer.choices[0]).toMatchObject({ message: { content: 'Fine.' }, finish_reason: 'stop' });
    expect(answer.usage).toMatchObject({ prompt_tokens: 5, completion_tokens: 2, total_tokens: 7 });
    expect(server.counts()).toEqual({ requests: 1, rejected: 0, inputTokens: 5, outputTokens: 2 });
  });

  it('the official client gets two parallel calls and returns their results', async () => {
    const server = await serve([twoCalls, { text: 'Sunny in both.' }]);
    const client = officialClient(server);
    const first = await client.chat.completions.create({ ...ask, tools: [weather] });
    const message = first.choices[0]?.message;
    const calls = message?.tool_calls ?? [];
    expect(calls.map((call) => call.type === 'function' && call.function.arguments)).toEqual([
      '{"town":"Bern"}',
      '{"town":"Basel"}',
    ]);
    const second = await client.chat.completions.create({
      ...ask,
      tools: [weather],
      messages: [
        question,
        message as OpenAI.ChatCompletionMessageParam,
        ...calls.map((call) => ({ role: 'tool' as const, tool_call_id: call.id, content: 'sunny' })),
      ],
    });
    expect(second.choices[0]?.message.content).toBe('Sunny in both.');
    expect(server.exchanges[1]?.request.messages.map(({ role }) => role)).toEqual([
      'user',
      'assistant',
      'tool',
      'tool',
    ]);
    expect(server.exchanges[1]?.request.tools[0]).toMatchObject({
      name: 'weather',
      description: 'The weather of a town',
    });
  });

  it('the official client gets a stream in chunks, including calls and usage', async () => {
    const server = await serve([twoCalls]);
    const stream = officialClient(server).chat.completions.stream({
      ...ask,
      tools: [weather],
      stream_options: { include_usage: true },
    });
    let pieces = 0;
    stream.on('content', () => (pieces += 1));
    const answer = await stream.finalChatCompletion();
    expect(pieces).toBeGreaterThan(1);
    expect(answer.choices[0]?.message.content).toBe('Let me look.');
    expect(answer.choices[0]?.message.tool_calls).toHaveLength(2);
    expect(answer.usage).toMatchObject({ prompt_tokens: 11, completion_tokens: 7 });
  });

  it('the official client gets structured JSON, and the script sees the schema', async () => {
    const server = await serve((request) => ({ json: { schema_seen: request.output } }));
    const schema = { type: 'object', properties: { a: { type: 'number' } } };
    const answer = await officialClient(server).chat.completions.create({
      ...ask,
      response_format: { type: 'json_schema', json_schema: { name: 'answer', schema } },
    });
    expect(JSON.parse(answer.choices[0]?.message.content ?? '')).toEqual({ schema_seen: schema });
  });

  it('the official client needs the key if one is set', async () => {
    const server = await serveScriptedModel([{ text: 'in' }], { apiKey: 'right' });
    open.push(server);
    const wrong = new OpenAI({ baseURL: server.url, apiKey: 'wrong', maxRetries: 0 });
    await expect(wrong.chat.completions.create(ask)).rejects.toMatchObject({ status: 401, code: 'invalid_api_key' });
    const right = new OpenAI({ baseURL: server.url, apiKey: 'right', maxRetries: 0 });
    expect((await right.chat.completions.create(ask)).choices[0]?.message.content).toBe('in');
  });
});

describe('the AI SDK', () => {
  const ways = [
    ['over HTTP', async (script: Script) => sdkModel(await serve(script))],
    ['in process', (script: Script) => Promise.resolve(scriptedModel(script))],
  ] as const;

  describe.each(ways)('%s', (_name, modelOf) => {
    it('the AI SDK gets text, calls and usage', async () => {
      const model = await modelOf([twoCalls]);
      const result = await generateText({ model, prompt: 'weather?', tools: sdkTools, maxRetries: 0 });
      expect(result.text).toBe('Let me look.');
      expect(result.toolCalls.map((call) => call.input)).toEqual([{ town: 'Bern' }, { town: 'Basel' }]);
      expect(result.finishReason).toBe('tool-calls');
      expect(result.usage).toMatchObject({ inputTokens: 11, outputTokens: 7 });
    });

    it('the AI SDK gets a stream', async () => {
      const model = await modelOf([twoCalls]);
      const result = streamText({ model, prompt: 'weather?', tools: sdkTools, maxRetries: 0 });
      let text = '';
      for await (const piece of result.textStream) text += piece;
      expect(text).toBe('Let me look.');
      expect((await result.toolCalls).map((call) => call.input)).toEqual([{ town: 'Bern' }, { town: 'Basel' }]);
      expect(await result.usage).toMatchObject({ inputTokens: 11, outputTokens: 7 });
    });

    it('the AI SDK gets structured JSON', async () => {
      const model = await modelOf([{ json: { a: 1 } }]);
      const output = Output.object({ schema: jsonSchema({ type: 'object', properties: { a: { type: 'number' } } }) });
      const result = await generateText({ model, prompt: 'a?', output, maxRetries: 0 });
      expect(result.output).toEqual({ a: 1 });
    });

    it.each([
      ['rate_limit', { statusCode: 429 }],
      ['server_error', { statusCode: 500 }],
      ['context_length', { statusCode: 400, message: expect.stringContaining('maximum context length') as string }],
      ['bad_json', { statusCode: 200 }],
      ['cut_stream', { message: expect.stringMatching(/process successful response|terminated/) as string }],
    ] as const)('throws for %s', async (fault, expected) => {
      const model = await modelOf([{ fault }]);
      const asked = generateText({ model, prompt: 'go', maxRetries: 0 });
      await expect(asked).rejects.toMatchObject(expected);
    });

    it('the AI SDK waits until the caller gives up on a hang', async () => {
      const model = await modelOf([{ fault: 'hang' }]);
      const asked = generateText({ model, prompt: 'go', maxRetries: 0, abortSignal: AbortSignal.timeout(100) });
      await expect(asked).rejects.toMatchObject({ name: 'TimeoutError' });
    });

    it.each([
      ['refusal', { text: '', finishReason: 'stop' }],
      ['empty', { text: '', finishReason: 'stop' }],
      ['length', { finishReason: 'length' }],
      ['wrong_arguments', { toolCalls: [{ toolName: 'weather', input: {} }] }],
      ['invented_tool', { toolCalls: [{ toolName: 'no_such_tool', invalid: true }] }],
      ['repeated_call', { toolCalls: [{ toolName: 'weather' }] }],
    ] as const)('gets the answer of %s', async (fault, expected) => {
      const model = await modelOf([{ fault }]);
      const result = await generateText({ model, prompt: 'go', tools: sdkTools, maxRetries: 0 });
      expect(result).toMatchObject(expected);
    });

    it('the AI SDK is told when the script has ended', async () => {
      const model = await modelOf([]);
      const asked = generateText({ model, prompt: 'go', maxRetries: 0 });
      await expect(asked).rejects.toThrow('The script has 0 turns and this is request 1: add a turn.');
    });
  });

  it('a script can be used in process and over HTTP with one count', async () => {
    const model = scriptedModel([{ text: 'one' }, { text: 'two' }]);
    const server = await serveScriptedModel(model);
    open.push(server);
    const inside = await generateText({ model, prompt: 'a', maxRetries: 0 });
    const outside = await generateText({ model: sdkModel(server), prompt: 'b', maxRetries: 0 });
    expect([inside.text, outside.text]).toEqual(['one', 'two']);
    expect(model.counts()).toEqual(server.counts());
    expect(model.counts().requests).toBe(2);
  });
});

describe('faults as the official client meets them', () => {
  const create = async (turn: ScriptedTurn, more: object = {}) => {
    const client = officialClient(await serve([turn]));
    return client.chat.completions.create({ ...ask, ...more });
  };

  it.each<[ScriptedTurn, object]>([
    [
      { fault: 'rate_limit', retryAfterSeconds: 7 },
      { status: 429, code: 'rate_limit_exceeded' },
    ],
    [{ fault: 'server_error', status: 503 }, { status: 503 }],
    [{ fault: 'context_length' }, { status: 400, code: 'context_length_exceeded' }],
    [
      { fault: 'http_error', status: 429, code: 'insufficient_quota' },
      { status: 429, code: 'insufficient_quota' },
    ],
  ])('%j', async (turn, expected) => {
    const error = await create(turn).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(APIError);
    expect(error).toMatchObject(expected);
  });

  it('the rate limit says when to try again', async () => {
    const error = (await create({ fault: 'rate_limit', retryAfterSeconds: 7 }).catch(
      (thrown: unknown) => thrown,
    )) as APIError;
    expect(error.headers?.get('retry-after')).toBe('7');
  });

  it.each([false, true])(
    'the official client sees a connection that breaks in the middle (stream: %s)',
    async (stream) => {
      const client = officialClient(await serve([{ fault: 'cut_stream', text: 'x'.repeat(2_000) }]));
      let received = '';
      const read = async (): Promise<void> => {
        if (!stream) return void (await client.chat.completions.create(ask));
        for await (const chunk of await client.chat.completions.create({ ...ask, stream: true })) {
          received += chunk.choices[0]?.delta.content ?? '';
        }
      };
      await expect(read()).rejects.toThrow(/terminated|Premature close|Connection error/);
      expect(received.length > 0).toBe(stream);
      expect(received.length).toBeLessThan(2_000);
    },
  );

  it.each([false, true])('the official client sees an answer that is not JSON (stream: %s)', async (stream) => {
    const client = officialClient(await serve([{ fault: 'bad_json' }]));
    const read = async (): Promise<void> => {
      if (!stream) return void (await client.chat.completions.create(ask));
      for await (const chunk of await client.chat.completions.create({ ...ask, stream: true })) void chunk;
    };
    await expect(read()).rejects.toThrow(SyntaxError);
  });

  it('the official client times out when there is no answer', async () => {
    const server = await serve([{ fault: 'hang' }]);
    const client = new OpenAI({ baseURL: server.url, apiKey: 'any', maxRetries: 0, timeout: 150 });
    await expect(client.chat.completions.create(ask)).rejects.toThrow('timed out');
    expect(server.counts().requests).toBe(1);
  });

  it('the official client sees a refusal in words, and one by the filter', async () => {
    const words = await create({ fault: 'refusal', text: 'No.' });
    expect(words.choices[0]).toMatchObject({ message: { content: null, refusal: 'No.' }, finish_reason: 'stop' });
    const filter = await create({ fault: 'refusal', filter: true });
    expect(filter.choices[0]?.finish_reason).toBe('content_filter');
  });

  it('the official client sees an empty answer, and one that was cut off', async () => {
    expect((await create({ fault: 'empty' })).choices[0]?.message.content).toBe('');
    expect((await create({ fault: 'length' })).choices[0]?.finish_reason).toBe('length');
  });

  it('the official client sees wrong arguments, an invented tool, and a repeated call', async () => {
    const callOf = (answer: OpenAI.ChatCompletion) => answer.choices[0]?.message.tool_calls?.[0];
    const wrong = await create({ fault: 'wrong_arguments' }, { tools: [weather] });
    expect(callOf(wrong)).toMatchObject({ function: { name: 'weather', arguments: '{}' } });
    const invented = await create({ fault: 'invented_tool' }, { tools: [weather] });
    expect(callOf(invented)).toMatchObject({ function: { name: 'no_such_tool' } });
    const past = [
      question,
      {
        role: 'assistant',
        tool_calls: [{ id: 'x1', type: 'function', function: { name: 'weather', arguments: '{"town":"Chur"}' } }],
      },
      { role: 'tool', tool_call_id: 'x1', content: 'rain' },
    ];
    const repeated = await create({ fault: 'repeated_call' }, { tools: [weather], messages: past });
    expect(callOf(repeated)).toMatchObject({
      id: 'call_1',
      function: { name: 'weather', arguments: '{"town":"Chur"}' },
    });
    const sameId = await create({ fault: 'repeated_call', sameId: true }, { tools: [weather], messages: past });
    expect(callOf(sameId)).toMatchObject({ id: 'x1' });
  });
});

describe('a strict server', () => {
  const call = (id: string) => ({
    role: 'assistant',
    content: null,
    tool_calls: [{ id, type: 'function', function: { name: 'weather', arguments: '{}' } }],
  });
  const result = (id: string) => ({ role: 'tool', tool_call_id: id, content: 'ok' });

  it.each<[string, object, string]>([
    ['a result without its call', { messages: [question, result('x')] }, 'result_without_call'],
    ['a call without its result', { messages: [question, call('x'), question] }, 'call_without_result'],
    ['a call id twice', { messages: [question, call('x'), result('x'), call('x'), result('x')] }, 'call_id_twice'],
    ['an assistant who starts', { messages: [{ role: 'assistant', content: 'hi' }, question] }, 'starts_without_user'],
    ['instructions at the end', { messages: [question, { role: 'system', content: 'x' }] }, 'system_not_first'],
    ['a role that is none', { messages: [{ role: 'robot', content: 'x' }] }, '"robot" is no role'],
    [
      'arguments that are no JSON',
      {
        messages: [
          question,
          { ...call('x'), tool_calls: [{ id: 'x', type: 'function', function: { name: 'w', arguments: '{' } }] },
          result('x'),
        ],
      },
      'not JSON',
    ],
    [
      'a tool name with a dot',
      { messages: [question], tools: [{ type: 'function', function: { name: 'fs.read' } }] },
      'fs.read',
    ],
    ['no messages', { messages: [] }, 'no_messages'],
    ['messages that are no list', { messages: 'hello' }, 'messages must be a list'],
  ])('refuses %s with 400 and uses up no turn', async (_name, body, word) => {
    const server = await serve([{ text: 'the first turn' }]);
    const send = (content: object): Promise<Response> =>
      fetch(`${server.url}/chat/completions`, { method: 'POST', body: JSON.stringify({ model: 'm', ...content }) });
    const refused = await send(body);
    expect(refused.status).toBe(400);
    expect(await refused.text()).toContain(word.replaceAll('"', String.raw`\"`));
    const accepted = await send({ messages: [question] });
    expect(await accepted.text()).toContain('the first turn');
    expect(server.counts()).toMatchObject({ requests: 2, rejected: 1 });
  });

  it('the scripted model refuses in process what it refuses over HTTP', async () => {
    const model = scriptedModel([{ text: 'x' }]);
    const asked = model.doGenerate({ prompt: [{ role: 'assistant', content: [{ type: 'text', text: 'hi' }] }] });
    await expect(asked).rejects.toMatchObject({ statusCode: 400 });
    expect(model.counts()).toMatchObject({ requests: 1, rejected: 1 });
  });

  it('the scripted server answers 404 to unknown routes, and 400 to what is not JSON', async () => {
    const server = await serve([]);
    expect((await fetch(`${server.url}/embeddings`, { method: 'POST' })).status).toBe(404);
    expect((await fetch(`${server.url}/chat/completions`, { method: 'POST', body: 'hello' })).status).toBe(400);
  });
});
