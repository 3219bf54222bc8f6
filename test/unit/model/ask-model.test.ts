/** One question to a model and its outcome: usable answers, and what is around them. Real sockets; needs nothing. */
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import * as fc from 'fast-check';
import { afterEach, describe, expect, it } from 'vitest';
import type { Message } from '../../../src/core/transcript/message.ts';
import { replaceFailedTail } from '../../../src/core/transcript/failed-tail.ts';
import type { ModelRequest } from '../../../src/model/request.ts';
import { askModel } from '../../../src/model/ask-model.ts';
import { readModelSettings } from '../../../src/model/model-settings.ts';
import type { ModelEndpoint } from '../../../src/define/model-source.ts';
import { ENVIRONMENT } from '../../../src/model/setup-hint.ts';
import {
  type Script,
  scriptedModel,
  type ScriptedModel,
  type ScriptedServer,
  type ScriptedTurn,
  serveScriptedModel,
} from '../../../src/testing.ts';
import { conversation } from '../../support/conversations.ts';

const closing: (() => Promise<void>)[] = [];
afterEach(async () => {
  await Promise.all(closing.splice(0).map((close) => close()));
});

async function serve(script: Script): Promise<ScriptedServer> {
  const server = await serveScriptedModel(script);
  closing.push(() => server.close());
  return server;
}
/** A server that does what no script does. */
async function serveRaw(listener: RequestListener): Promise<string> {
  const server = createServer(listener);
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
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
}

const request: ModelRequest = {
  instructions: 'Be brief.',
  messages: [{ role: 'user', text: 'go' }],
  tools: [],
  max_output_tokens: 100,
  timeout_ms: 10_000,
};
const read = {
  name: 'fs.read',
  description: 'Reads a file',
  input_schema: { type: 'object', properties: { path: { type: 'string' } }, required: ['path'] },
};
const at = (server: { url: string }, more: object = {}) => ({ base_url: server.url, model: 'scripted', ...more });

describe('a usable answer', () => {
  it('an answer has its text, usage and time, and the server got the instructions and the cap', async () => {
    const server = await serve([{ text: 'done', usage: { inputTokens: 9, outputTokens: 1 } }]);
    const outcome = await askModel(request, { model: at(server) });
    expect(outcome).toEqual({
      class: 'ok',
      text: 'done',
      calls: [],
      finish: 'stop',
      usage: { input_tokens: 9, output_tokens: 1 },
      model: 'scripted',
      duration_ms: expect.any(Number) as number,
    });
    expect(server.exchanges[0]?.request).toMatchObject({
      messages: [
        { role: 'system', text: 'Be brief.' },
        { role: 'user', text: 'go' },
      ],
      maxOutputTokens: 100,
    });
  });

  it('an answer has calls with the original tool names, which providers would refuse', async () => {
    const server = await serve(({ tools }) => ({
      text: 'Reading.',
      calls: tools.map((tool) => ({ tool: tool.name, input: { path: tool.name } })),
    }));
    const outcome = await askModel({ ...request, tools: [read, { ...read, name: 'fs_read' }] }, { model: at(server) });
    expect(server.exchanges[0]?.request.tools.map((tool) => tool.name)).toEqual(['fs_read', 'fs_read_2']);
    expect(outcome).toMatchObject({
      class: 'ok',
      text: 'Reading.',
      finish: 'tool_calls',
      calls: [
        { tool: 'fs.read', input: { path: 'fs_read' } },
        { tool: 'fs_read', input: { path: 'fs_read_2' } },
      ],
    });
  });

  it('a call gets a new id if the model repeats one', async () => {
    const again = { id: 'call_0', tool: 'fs_read', input: { path: 'b' } };
    const server = await serve([{ calls: [again, again, { ...again, id: '' }, { ...again, id: 'x'.repeat(200) }] }]);
    const messages: Message[] = [
      { role: 'user', text: 'go' },
      { role: 'assistant', text: '', calls: [{ call_id: 'call_0', tool: 'fs.read', input: { path: 'a' } }] },
      { role: 'tool', call_id: 'call_0', tool: 'fs.read', output: 'A' },
    ];
    const outcome = await askModel({ ...request, messages, tools: [read] }, { model: at(server) });
    const ids = outcome.class === 'ok' ? outcome.calls.map((call) => call.call_id) : [];
    expect(ids).toHaveLength(4);
    expect(new Set([...ids, 'call_0']).size).toBe(5);
  });

  it('usage is estimated from bytes, and marked so, if the provider sends none', async () => {
    const model = scriptedModel([{ text: 'x'.repeat(300) }]);
    const uncounted: ScriptedModel = {
      ...model,
      doGenerate: async (options) => {
        const none = { total: undefined, noCache: undefined, cacheRead: undefined, cacheWrite: undefined };
        const usage = { inputTokens: none, outputTokens: { total: undefined, text: undefined, reasoning: undefined } };
        return { ...(await model.doGenerate(options)), usage };
      },
    };
    const outcome = await askModel(request, { model: uncounted });
    expect(outcome).toMatchObject({ class: 'ok', usage: { estimated: true } });
    expect(outcome.class === 'ok' && outcome.usage.output_tokens).toBeGreaterThanOrEqual(100);
  });

  it('usage includes the tokens from the cache of the provider', async () => {
    const url = await serveRaw((_request, response) => {
      response.setHeader('content-type', 'application/json');
      const usage = { prompt_tokens: 100, completion_tokens: 5, prompt_tokens_details: { cached_tokens: 60 } };
      response.end(JSON.stringify({ choices: [{ message: { content: 'hi' }, finish_reason: 'stop' }], usage }));
    });
    expect(await askModel(request, { model: at({ url }) })).toMatchObject({
      usage: { input_tokens: 100, output_tokens: 5, cached_input_tokens: 60 },
    });
  });
});

describe('an answer that must be JSON', () => {
  const output_schema = { type: 'object', properties: { a: { type: 'number' } }, required: ['a'] };
  const askFor = async (turn: ScriptedTurn, more: object = {}) => {
    const server = await serve([turn]);
    const outcome = await askModel({ ...request, output_schema, tools: [read] }, { model: at(server, more) });
    return { outcome, asked: server.exchanges[0]?.request };
  };

  it('a JSON answer that matches the schema is returned as a value', async () => {
    const { outcome, asked } = await askFor({ json: { a: 1 } });
    expect(outcome).toMatchObject({ class: 'ok', output: { a: 1 }, text: '{"a":1}' });
    expect(asked?.output).toEqual(output_schema);
  });

  it('a JSON answer may be in a code fence', async () => {
    const { outcome } = await askFor({ text: '```json\n{"a": 2}\n```' });
    expect(outcome).toMatchObject({ class: 'ok', output: { a: 2 } });
  });

  it.each<[string, ScriptedTurn, object]>([
    ['no JSON', { text: 'a is 1' }, { error_code: 'OUTPUT_NOT_JSON', text: 'a is 1', paths: ['$'] }],
    ['the wrong type', { json: { a: 'one' } }, { error_code: 'INVALID_OUTPUT', paths: ['$.a'] }],
    ['something missing', { json: {} }, { error_code: 'INVALID_OUTPUT', paths: ['$.a'], text: '{}' }],
  ])(
    'a JSON answer that is %s violates the contract, and its text is kept for the repair',
    async (_name, turn, expected) => {
      const { outcome } = await askFor(turn);
      const failed = { class: 'failed', category: 'contract_violation', certainty: 'failed' };
      expect(outcome).toMatchObject({ ...failed, ...expected });
    },
  );

  it('a JSON answer may come after tool calls', async () => {
    const { outcome } = await askFor({ calls: [{ tool: 'fs_read', input: { path: 'a' } }] });
    expect(outcome).toMatchObject({ class: 'ok', calls: [{ tool: 'fs.read' }] });
    expect(outcome).not.toHaveProperty('output');
  });

  it('a JSON answer is requested in the prompt if the server does not support schemas', async () => {
    const { outcome, asked } = await askFor({ json: { a: 3 } }, { structured_output: 'json_object' });
    expect(outcome).toMatchObject({ class: 'ok', output: { a: 3 } });
    expect(asked?.output).toBe(true);
    expect(asked?.messages[0]).toMatchObject({
      text: expect.stringContaining(JSON.stringify(output_schema)) as string,
    });
  });
});

describe('what is not sent', () => {
  it.each<[string, Partial<ModelRequest>, string]>([
    [
      'a conversation that no provider takes',
      { messages: [{ role: 'assistant', text: 'hi', calls: [] }] },
      'INVALID_TRANSCRIPT',
    ],
    ['a schema that is none', { output_schema: { type: 'nonsense' } }, 'INVALID_OUTPUT_SCHEMA'],
  ])('a request with %s is not sent', async (_name, more, error_code) => {
    const server = await serve([{ text: 'x' }]);
    const outcome = await askModel({ ...request, ...more }, { model: at(server) });
    expect(outcome).toMatchObject({ class: 'failed', category: 'invalid_input', certainty: 'not_started', error_code });
    expect(server.counts().requests).toBe(0);
  });

  it('nothing is sent after a cancel', async () => {
    const server = await serve([{ text: 'x' }]);
    const outcome = await askModel(request, { model: at(server), signal: AbortSignal.abort() });
    expect(outcome).toMatchObject({ class: 'cancelled' });
    expect(server.counts().requests).toBe(0);
  });
});

describe('a failed call', () => {
  it('a call is cancelled at once', async () => {
    const cancel = new AbortController();
    const server = await serve(() => {
      cancel.abort();
      return { fault: 'hang' };
    });
    const outcome = await askModel(request, { model: at(server), signal: cancel.signal });
    expect(outcome).toMatchObject({ class: 'cancelled' });
    expect(outcome.duration_ms).toBeLessThan(5_000);
  });

  it('a call to a server that does not listen was not started', async () => {
    const server = await serveScriptedModel([]);
    await server.close();
    const outcome = await askModel(request, { model: at(server) });
    const usage = { input_tokens: 0, output_tokens: 0 };
    expect(outcome).toMatchObject({ class: 'failed', category: 'network', certainty: 'not_started', usage });
  });

  it.each<[ScriptedTurn, object]>([
    [
      { fault: 'http_error', status: 401, code: 'invalid_api_key' },
      { category: 'auth', certainty: 'failed' },
    ],
    [
      { fault: 'http_error', status: 429, code: 'insufficient_quota' },
      { category: 'quota', certainty: 'failed' },
    ],
    [
      { fault: 'http_error', status: 404, code: 'model_not_found' },
      { category: 'invalid_input', certainty: 'failed' },
    ],
    [
      { fault: 'http_error', status: 429, code: 'x', headers: { 'retry-after-ms': '250' } },
      { category: 'rate_limit', retry_after_ms: 250 },
    ],
    [
      { fault: 'http_error', status: 400, code: 'content_policy_violation' },
      { category: 'content_filter', certainty: 'failed' },
    ],
    [
      { fault: 'bad_json', body: '{"error":{"code":429,"message":"Rate limit exceeded"}}' },
      { category: 'rate_limit', certainty: 'failed' },
    ],
  ])('a call fails as expected: %j', async (turn, expected) => {
    const server = await serve([turn]);
    expect(await askModel(request, { model: at(server) })).toMatchObject({ class: 'failed', ...expected });
  });

  it('the error of a call contains no key', async () => {
    const api_key = 'sk-live-this-must-not-be-told';
    const server = await serve([{ fault: 'http_error', status: 401, message: `Incorrect API key: ${api_key}` }]);
    const outcome = await askModel(request, { model: at(server, { api_key }) });
    expect(outcome).toMatchObject({ class: 'failed', category: 'auth' });
    expect(JSON.stringify(outcome)).not.toContain('this-must-not');
  });

  it('an endless answer is stopped at the cap', async () => {
    const url = await serveRaw((_request, response) => {
      response.setHeader('content-type', 'application/json');
      const more = (): void => {
        while (!response.destroyed && response.write(' '.repeat(1024 * 1024)));
        if (!response.destroyed) response.once('drain', more);
      };
      more();
    });
    const outcome = await askModel(request, { model: at({ url }) });
    expect(outcome).toMatchObject({
      class: 'failed',
      category: 'contract_violation',
      error_code: 'ANSWER_TOO_LARGE',
      certainty: 'unknown',
    });
  });

  it('a call does not wait for a model that ignores its signal', async () => {
    const deaf: ScriptedModel = { ...scriptedModel([]), doGenerate: () => new Promise(() => {}) };
    const outcome = await askModel({ ...request, timeout_ms: 50 }, { model: deaf });
    expect(outcome).toMatchObject({ class: 'failed', category: 'timeout', certainty: 'unknown', usage: null });
  });

  it.each<[string, unknown]>([
    ['nothing', undefined],
    ['a text', 'boom'],
    [
      'an error with a hostile getter',
      Object.defineProperty(new Error('x'), 'cause', {
        get: () => {
          throw new Error('y');
        },
      }),
    ],
    ['a plain error', new Error('out of order')],
  ])('a model object that throws %s gives an outcome', async (_name, thrown) => {
    const broken: ScriptedModel = { ...scriptedModel([]), doGenerate: () => Promise.reject(thrown) };
    const outcome = await askModel(request, { model: broken });
    expect(outcome).toMatchObject({ class: 'failed', category: 'unknown_error', certainty: 'unknown', usage: null });
  });
});

describe('conversations after surgery', () => {
  it('conversations after surgery are all accepted by the strict server, over HTTP', { timeout: 120_000 }, async () => {
    const server = await serve(() => ({ text: 'understood' }));
    await fc.assert(
      fc.asyncProperty(conversation, async (before) => {
        const [first] = before;
        const messages = first?.role === 'system' ? before.slice(1) : before;
        const operated = replaceFailedTail(messages, 'Do it differently.').messages;
        const instructions = first?.role === 'system' ? first.text : '';
        const asked = { ...request, instructions, messages: operated, tools: [read] };
        const outcome = await askModel(asked, { model: at(server) });
        expect(outcome).toMatchObject({ class: 'ok', text: 'understood' });
      }),
      { numRuns: 300, seed: 11 },
    );
    expect(server.counts()).toMatchObject({ requests: 300, rejected: 0 });
  });
});

describe('a question that allows no calls', () => {
  const past: Message[] = [
    { role: 'user', text: 'go' },
    { role: 'assistant', text: '', calls: [{ call_id: 'c1', tool: 'fs.read', input: { path: 'a' } }] },
    { role: 'tool', call_id: 'c1', tool: 'fs.read', output: 'x' },
  ];

  it('a request without calls still declares its tools, because the strict server refuses results of undeclared ones', async () => {
    const server = await serve([{ text: 'done' }]);
    const asked = { ...request, messages: past, tool_choice: 'none' } as const;
    expect(await askModel({ ...asked, tools: [] }, { model: at(server) })).toMatchObject({
      class: 'failed',
      message_preview: expect.stringContaining('need the tools declared') as string,
    });
    expect(await askModel({ ...asked, tools: [read] }, { model: at(server) })).toMatchObject({ text: 'done' });
    expect(server.exchanges.at(-1)?.request).toMatchObject({ toolChoice: 'none', tools: [{ name: 'fs_read' }] });
  });
});

describe('servers that speak a dialect', () => {
  const answering = (status: number, body: object) =>
    serveRaw((_request, response) => {
      response.writeHead(status, { 'content-type': 'application/json' });
      response.end(JSON.stringify(body));
    });
  const long = "This model's maximum context length is 4096 tokens. However, you requested 5000 tokens";

  it.each<[string, number, object, object]>([
    ['at the top', 400, { object: 'error', message: long, type: 'BadRequestError', code: 400 }, {}],
    ['at the top of a 200', 200, { object: 'error', message: long, code: 400 }, {}],
    ['as detail', 400, { detail: long }, {}],
    ['as a list of details', 422, { detail: [{ loc: ['body'], msg: long, type: 'value_error' }] }, {}],
    ['in a list', 400, [{ error: { code: 400, message: long, status: 'INVALID_ARGUMENT' } }], {}],
    ['as a mere word', 503, { message: 'loading' }, { category: 'server_error', message_preview: 'loading' }],
  ])('errors of a server are understood when they are %s', async (_where, status, body, expected) => {
    const model = { base_url: await answering(status, body), model: 'm' };
    const outcome = await askModel(request, { model });
    expect(outcome).toMatchObject({
      class: 'failed',
      category: 'context_length',
      certainty: 'failed',
      ...(status === 503 ? {} : { message_preview: long }),
      ...expected,
    });
  });

  it('a server may send the arguments of a call as an object', async () => {
    let asked = 0;
    const url = await serveRaw((_request, response) => {
      asked += 1;
      const called = { name: 'fs_read', arguments: { path: 'a.txt' } };
      const message = {
        role: 'assistant',
        content: null,
        tool_calls: [{ id: 'c1', type: 'function', function: called }],
      };
      const usage = { prompt_tokens: 7, completion_tokens: 3, total_tokens: 10 };
      response.setHeader('content-type', 'application/json');
      response.end(JSON.stringify({ id: 'x', choices: [{ index: 0, message, finish_reason: 'tool_calls' }], usage }));
    });
    const outcome = await askModel({ ...request, tools: [read] }, { model: { base_url: url, model: 'm' } });
    expect(outcome).toMatchObject({
      class: 'ok',
      calls: [{ call_id: 'c1', tool: 'fs.read', input: { path: 'a.txt' } }],
      usage: { input_tokens: 7, output_tokens: 3 },
    });
    expect(asked).toBe(1);
  });
});

describe('settings that are wrong', () => {
  const refusing = (status: number) =>
    serve(() => ({ fault: 'http_error', status, message: `no. ${'x'.repeat(400)}` }));
  const previewOf = async (model: ModelEndpoint, settings?: typeof ENVIRONMENT): Promise<string> => {
    const outcome = await askModel(request, { model, ...(settings === undefined ? {} : { settings }) });
    return outcome.class === 'failed' ? outcome.message_preview : outcome.class;
  };

  it.each([
    ['', 'OPENAI_BASE_URL usually ends in /v1'],
    ['/', 'OPENAI_BASE_URL usually ends in /v1'],
    ['/v1/chat/completions', 'OPENAI_BASE_URL usually ends in /v1'],
  ])('the setting of the address is named if it ends in "%s" and there is no server', async (path, words) => {
    const server = await serve([]);
    const base_url = server.url.replace(/\/v1$/, path);
    expect(await previewOf({ base_url, model: 'm' }, ENVIRONMENT)).toContain(words);
  });

  it('the setting of the address is not named if it looks right and the model is missing', async () => {
    const server = await refusing(404);
    expect(await previewOf({ base_url: server.url, model: 'm' }, ENVIRONMENT)).not.toContain('OPENAI_BASE_URL');
  });

  it('the setting of the key is named when the key is refused, however long the refusal is', async () => {
    const model = { base_url: (await refusing(401)).url, model: 'm' };
    const key = 'some-key-of-mine';
    expect(await previewOf({ ...model, api_key: key }, ENVIRONMENT)).toMatch(/the key comes from OPENAI_API_KEY$/);
    expect(await previewOf({ ...model, api_key: key })).toMatch(/the key comes from the api_key of the model$/);
    expect(await previewOf(model, ENVIRONMENT)).toMatch(/no key was sent: set OPENAI_API_KEY$/);
  });
});

describe('the settings', () => {
  it('the environment names an endpoint', () => {
    const environment = { OPENAI_BASE_URL: 'http://127.0.0.1:9/v1', OPENAI_API_KEY: 'k', MODEL: 'm' };
    const endpoint = { base_url: 'http://127.0.0.1:9/v1', api_key: 'k', model: 'm' };
    expect(readModelSettings(environment)).toEqual({ ok: true, endpoint });
  });

  it.each([
    [{}, 'MODEL'],
    [{ MODEL: 'm' }, 'OPENAI_API_KEY'],
    [{ MODEL: 'm', OPENAI_BASE_URL: 'localhost:11434' }, 'OPENAI_BASE_URL'],
  ])('missing settings are named: %j', (environment, word) => {
    expect(readModelSettings(environment)).toMatchObject({
      ok: false,
      problem: expect.stringContaining(word) as string,
    });
  });
});
