/** The proxy between real clients and a real HTTP server that stands for a model's API. Needs nothing. */
import { once } from 'node:events';
import { connect } from 'node:net';
import { gzipSync } from 'node:zlib';
import OpenAI from 'openai';
import { afterEach, describe, expect, it } from 'vitest';
import { createProxy, type ProxyNote } from '../../../src/cli/proxy/create-proxy.ts';
import { listen } from '../../../src/cli/proxy/serve-proxy.ts';
import { settingsOf } from '../../../src/core/guard/guard-state.ts';
import { mergePolicy } from '../../../src/core/policy/merge-policy.ts';
import { type Answering, serveUpstream, type TestUpstream } from '../../support/upstream.ts';

const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).toReversed()) await close();
});

type Mode = 'observe' | 'guide' | 'enforce';

async function startProxy(upstream: string, mode: Mode, bodyBytes?: number) {
  const notes: ProxyNote[] = [];
  const proxy = createProxy({
    upstream: new URL(upstream),
    guard: settingsOf(mergePolicy({ mode })),
    say: (note) => void notes.push(note),
    ...(bodyBytes !== undefined && { bodyBytes }),
  });
  closing.push(() => proxy.close());
  return { url: await listen(proxy.server, 0, '127.0.0.1'), notes };
}

async function start(answer: Answering, mode: Mode = 'enforce', bodyBytes?: number) {
  const upstream = await serveUpstream(answer);
  closing.push(() => upstream.close());
  return { upstream, ...(await startProxy(upstream.url, mode, bodyBytes)) };
}

/** Everything that a server sends on one connection. */
async function rawAnswer(base: string, request: string | Buffer): Promise<string> {
  const { hostname, port } = new URL(base);
  const socket = connect(Number(port), hostname);
  socket.write(request);
  const parts: Buffer[] = [];
  socket.on('data', (part: Buffer) => parts.push(part));
  await once(socket, 'close');
  return Buffer.concat(parts).toString('latin1');
}

const rawPost = (path: string, body: string | Buffer, more = ''): Buffer =>
  Buffer.concat([
    Buffer.from(
      `POST ${path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\nAuthorization: Bearer sk-very-secret\r\nContent-Type: application/json\r\n${more}Content-Length: ${Buffer.byteLength(body)}\r\n\r\n`,
    ),
    Buffer.from(body),
  ]);

const FAILING = 'Error: connect ECONNREFUSED 127.0.0.1:5432';
/** A conversation in which the same call fails again and again. */
const chatMessages = (rounds: number, failure = FAILING): OpenAI.ChatCompletionMessageParam[] => [
  { role: 'system', content: 'Work.' },
  { role: 'user', content: 'Migrate the database.' },
  ...Array.from({ length: rounds }, (_, at): OpenAI.ChatCompletionMessageParam[] => [
    {
      role: 'assistant',
      content: null,
      tool_calls: [{ id: `c${at}`, type: 'function', function: { name: 'migrate', arguments: '{"to":"head"}' } }],
    },
    { role: 'tool', tool_call_id: `c${at}`, content: failure },
  ]).flat(),
];

const chatAnswer: Answering = (_request, response) => {
  const message = { role: 'assistant', content: 'from the model', refusal: null };
  response.writeHead(200, { 'content-type': 'application/json' }).end(
    JSON.stringify({
      id: 'x',
      object: 'chat.completion',
      created: 1,
      model: 'm',
      choices: [{ index: 0, message, finish_reason: 'stop' }],
    }),
  );
};

const officialClient = (url: string): OpenAI => new OpenAI({ baseURL: `${url}/v1`, apiKey: 'sk-any', maxRetries: 0 });
const onlyRequest = ({ requests }: TestUpstream): Record<string, unknown> => {
  expect(requests).toHaveLength(1);
  return JSON.parse(String(requests[0]?.body)) as Record<string, unknown>;
};

describe('a proxy that has nothing to say', () => {
  it('passes a request on byte for byte, except for the headers of the connection', async () => {
    const { upstream, url } = await start(chatAnswer);
    // Numbers and layout that would not survive JSON.parse and JSON.stringify.
    const body = `{ "model":"m",\n\t"seed": 12345678901234567890, "temperature": 1.0, "messages": ${JSON.stringify(chatMessages(1))} }`;
    await rawAnswer(url, rawPost('/v1/chat/completions?api-version=1', body, 'X-Thing: a\r\nX-Thing: b\r\n'));
    expect(upstream.requests[0]).toMatchObject({
      method: 'POST',
      url: '/v1/chat/completions?api-version=1',
      headers: { authorization: 'Bearer sk-very-secret', 'x-thing': 'a, b', host: new URL(upstream.url).host },
    });
    expect(String(upstream.requests[0]?.body)).toBe(body);
  });

  it.each([
    [
      'an answer in JSON',
      200,
      { 'content-type': 'application/json', 'X-Mixed-Case': 'a', 'set-cookie': ['a=1', 'b=2'] },
      ['{"a": 1.0}'],
    ],
    [
      'an error of the upstream',
      429,
      { 'retry-after': '7', 'content-type': 'application/json' },
      ['{"error":{"message":"slow down"}}'],
    ],
    ['an error without JSON', 503, { 'content-type': 'text/html' }, ['<h1>down</h1>']],
    [
      'compressed bytes',
      200,
      { 'content-encoding': 'gzip', 'content-type': 'application/json' },
      [gzipSync('{"a":1}')],
    ],
    ['a stream', 200, { 'content-type': 'text/event-stream' }, ['data: {"a":1}\n\n', ': ping\n\n', 'data: [DONE]\n\n']],
  ] as const)('passes %s back byte for byte', async (_what, status, headers, chunks) => {
    const { upstream, url } = await start(async (_request, response) => {
      response.sendDate = false;
      response.writeHead(status, 'As The Upstream Says', { ...headers } as Record<string, string | string[]>);
      for (const chunk of chunks) {
        response.write(chunk);
        // Each chunk leaves on its own, so that the chunks of both answers can be compared.
        await new Promise((resolve) => setImmediate(resolve));
      }
      response.end();
    });
    const request = rawPost('/v1/chat/completions', JSON.stringify({ model: 'm', stream: true, messages: [] }));
    const [direct, proxied] = [await rawAnswer(upstream.url, request), await rawAnswer(url, request)];
    expect(proxied).toBe(direct);
    expect(direct).toContain('As The Upstream Says');
  });

  it('gives each chunk of a stream to the client as soon as it arrives', async () => {
    let goOn = (): void => undefined;
    const gate = new Promise<void>((resolve) => {
      goOn = resolve;
    });
    const { url } = await start(async (_request, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write('data: first\n\n');
      await gate;
      response.end('data: second\n\n');
    });
    const answer = await fetch(`${url}/v1/chat/completions`, { method: 'POST', body: '{"messages":[]}' });
    const reader = answer.body?.pipeThrough(new TextDecoderStream()).getReader();
    // The second chunk is sent only after the first one was read here.
    expect((await reader?.read())?.value).toBe('data: first\n\n');
    goOn();
    expect((await reader?.read())?.value).toBe('data: second\n\n');
  });

  it('passes other paths and methods, and Anthropic messages without a loop', async () => {
    const { upstream, url } = await start((request, response) => void response.end(`${request.method} ${request.url}`));
    expect(await (await fetch(`${url}/v1/models`)).text()).toBe('GET /v1/models');
    expect(await (await fetch(`${url}/v1/files/1`, { method: 'DELETE' })).text()).toBe('DELETE /v1/files/1');
    const body = JSON.stringify({ model: 'claude', messages: [{ role: 'user', content: 'hello' }] });
    expect(await (await fetch(`${url}/v1/messages`, { method: 'POST', body })).text()).toBe('POST /v1/messages');
    expect(String(upstream.requests[2]?.body)).toBe(body);
  });

  it.each([
    ['not JSON', 'POST it {'],
    ['a list', '[1]'],
    ['messages of no known shape', '{"messages":[1,null,{"role":7},"x",{"role":"tool"}]}'],
    ['deep nesting', `{"messages":${'['.repeat(20_000)}${']'.repeat(20_000)}}`],
    ['bytes that are not UTF-8', Buffer.from([0x7b, 0xff, 0xfe, 0x7d])],
  ])('passes a body that is %s', async (_what, body) => {
    const { upstream, url } = await start(chatAnswer);
    await rawAnswer(url, rawPost('/v1/chat/completions', body));
    expect(upstream.requests[0]?.body.equals(Buffer.from(body))).toBe(true);
  });

  it('passes a body that is too large without holding it, and says so', async () => {
    const { upstream, url, notes } = await start(chatAnswer, 'enforce', 10_000);
    const body = JSON.stringify({ model: 'm', messages: chatMessages(200) });
    await rawAnswer(url, rawPost('/v1/chat/completions', body));
    expect(String(upstream.requests[0]?.body)).toBe(body);
    expect(notes).toEqual([{ event: 'unread', path: '/v1/chat/completions', why: expect.stringContaining('10000') }]);
  });

  it('appends the path to the address of the upstream, once', async () => {
    const { upstream } = await start((request, response) => void response.end(request.url));
    const { url } = await startProxy(`${upstream.url}/openai/v1`, 'guide');
    expect(await (await fetch(`${url}/models`)).text()).toBe('/openai/v1/models');
    expect(await (await fetch(`${url}/openai/v1/models?a=1`)).text()).toBe('/openai/v1/models?a=1');
  });
});

describe('an upstream that fails', () => {
  it('answers 502 with a clear error if there is no connection', async () => {
    const gone = await serveUpstream(chatAnswer);
    await gone.close();
    const { url, notes } = await startProxy(gone.url, 'enforce');
    const answer = await fetch(`${url}/v1/chat/completions`, { method: 'POST', body: '{"messages":[]}' });
    expect(answer.status).toBe(502);
    expect(await answer.json()).toEqual({
      error: {
        message: `The proxy cannot reach the upstream ${gone.url} (ECONNREFUSED). Check its address and that it is running.`,
        type: 'upstream_unreachable',
        param: null,
        code: 'ECONNREFUSED',
      },
    });
    expect(notes).toEqual([{ event: 'unreachable', path: new URL(gone.url).host, why: 'ECONNREFUSED' }]);
  });

  it('breaks off where the upstream breaks off', async () => {
    const { url } = await start((_request, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write('data: first\n\n', () => response.destroy());
    });
    const answer = await fetch(`${url}/v1/chat/completions`, { method: 'POST', body: '{"messages":[]}' });
    await expect(answer.text()).rejects.toThrow('terminated');
  });

  it('ends the request to the upstream if the client goes away', async () => {
    let closed: Promise<unknown> = Promise.resolve();
    const { url } = await start((_request, response) => {
      closed = once(response, 'close');
      response.writeHead(200).write('data: first\n\n');
    });
    const stop = new AbortController();
    const answer = await fetch(`${url}/v1/chat/completions`, {
      method: 'POST',
      body: '{"messages":[]}',
      signal: stop.signal,
    });
    expect(answer.status).toBe(200);
    stop.abort();
    await closed;
  });
});

describe('guidance', () => {
  it('is put at the end of the result of the call that shows the loop, and nothing else changes', async () => {
    const { upstream, url, notes } = await start(chatAnswer, 'guide');
    const messages = chatMessages(3);
    const body = `{"model": "m", "seed": 12345678901234567890,  "messages": ${JSON.stringify(messages, null, 1)}}`;
    await rawAnswer(url, rawPost('/v1/chat/completions', body));
    const sent = String(upstream.requests[0]?.body);
    const said = (JSON.parse(sent) as { messages: { content: string }[] }).messages.at(-1)?.content ?? '';
    expect(said).toMatch(
      /^Error: connect ECONNREFUSED 127\.0\.0\.1:5432\n\n\[secondwind\] The same call failed 3 times\./,
    );
    const added = JSON.stringify(said.slice(FAILING.length)).slice(1, -1);
    expect(sent.replace(added, '')).toBe(body);
    expect(notes).toEqual([
      {
        event: 'guided',
        path: '/v1/chat/completions',
        rule: 'same_call_failing',
        conversation: expect.any(String),
        calls: 3,
      },
    ]);
  });

  it('stays in place in later requests, so that the beginning of the prompt does not change', async () => {
    const { upstream, url } = await start(chatAnswer, 'guide');
    const client = officialClient(url);
    await client.chat.completions.create({ model: 'm', messages: chatMessages(3) });
    await client.chat.completions.create({ model: 'm', messages: chatMessages(4) });
    const [first, second] = upstream.requests.map(
      ({ body }) => (JSON.parse(String(body)) as { messages: unknown[] }).messages,
    );
    expect(second?.slice(0, first?.length)).toEqual(first);
  });

  it('is a further part of a result that is a list of parts', async () => {
    const { upstream, url } = await start(chatAnswer, 'guide');
    const messages = chatMessages(3).map((message) =>
      message.role === 'tool' ? { ...message, content: [{ type: 'text' as const, text: FAILING }] } : message,
    );
    await officialClient(url).chat.completions.create({ model: 'm', messages });
    const sent = onlyRequest(upstream)['messages'] as { content: { type: string; text: string }[] }[];
    expect(sent.at(-1)?.content).toEqual([
      { type: 'text', text: FAILING },
      { type: 'text', text: expect.stringContaining('[secondwind]') },
    ]);
  });

  it('goes into the results of the Responses API and of Anthropic', async () => {
    const { upstream, url } = await start((_request, response) => void response.end('{}'), 'guide');
    const rounds = Array.from({ length: 3 }, (_, at) => at);
    const input = rounds.flatMap((at) => [
      { type: 'function_call', call_id: `c${at}`, name: 'migrate', arguments: '{}' },
      { type: 'function_call_output', call_id: `c${at}`, output: FAILING },
    ]);
    const messages = rounds.flatMap((at) => [
      { role: 'assistant', content: [{ type: 'tool_use', id: `c${at}`, name: 'migrate', input: {} }] },
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: `c${at}`, is_error: true, content: FAILING }] },
    ]);
    const post = (path: string, body: object) => fetch(`${url}${path}`, { method: 'POST', body: JSON.stringify(body) });
    await post('/v1/responses', { model: 'm', input });
    await post('/v1/messages', { model: 'm', messages });
    const [responses, anthropic] = upstream.requests.map(
      ({ body }) => JSON.parse(String(body)) as Record<string, never[]>,
    );
    expect(responses?.['input']?.at(-1)).toMatchObject({ output: expect.stringContaining('[secondwind]') });
    expect(anthropic?.['messages']?.at(-1)).toMatchObject({
      content: [{ content: expect.stringContaining('[secondwind]') }],
    });
  });

  it('is not given in observe mode, and the report is the same', async () => {
    const { upstream, url } = await start(chatAnswer, 'observe');
    const messages = chatMessages(3);
    await officialClient(url).chat.completions.create({ model: 'm', messages });
    expect(onlyRequest(upstream)['messages']).toEqual(messages);
    expect(await (await fetch(`${url}/secondwind/report`)).json()).toMatchObject({
      conversations: [
        { requests: 1, guided: 0, stopped: 0, calls: 3, loops: [{ rule: 'same_call_failing', would_stop_at: 3 }] },
      ],
    });
  });
});

describe('a stuck agent in enforce mode', () => {
  const ask = { model: 'm', messages: chatMessages(4) };

  it('gets a final message of a chat, and the model is not asked', async () => {
    const { upstream, url } = await start(chatAnswer);
    const answer = await officialClient(url).chat.completions.create(ask);
    expect(answer.choices[0]).toMatchObject({
      finish_reason: 'stop',
      message: {
        role: 'assistant',
        content: expect.stringMatching(
          /^Stopped by Secondwind: the agent is stuck \(calls 1 to 4\)\. The same call failed 4 times\./,
        ),
      },
    });
    expect(upstream.requests).toEqual([]);
  });

  it('gets a stream of a chat, with usage if it asked for it', async () => {
    const { url } = await start(chatAnswer);
    const stream = officialClient(url).chat.completions.stream({ ...ask, stream_options: { include_usage: true } });
    expect(await stream.finalContent()).toMatch(/^Stopped by Secondwind/);
    expect(await stream.totalUsage()).toMatchObject({ total_tokens: 0 });
  });

  const input: OpenAI.Responses.ResponseInput = Array.from({ length: 4 }, (_, at): OpenAI.Responses.ResponseInput => [
    { type: 'function_call', call_id: `c${at}`, name: 'migrate', arguments: '{}' },
    { type: 'function_call_output', call_id: `c${at}`, output: FAILING },
  ]).flat();

  it('gets a response, whole or as a stream', async () => {
    const { upstream, url } = await start(chatAnswer);
    const { responses } = officialClient(url);
    expect(await responses.create({ model: 'm', input })).toMatchObject({
      status: 'completed',
      output_text: expect.stringMatching(/^Stopped by Secondwind/),
    });
    expect(await responses.stream({ model: 'm', input }).finalResponse()).toMatchObject({
      status: 'completed',
      output_text: expect.stringMatching(/^Stopped by Secondwind/),
    });
    expect(upstream.requests).toEqual([]);
  });

  it('goes on after a message of its user', async () => {
    const { upstream, url } = await start(chatAnswer);
    const client = officialClient(url);
    const { choices } = await client.chat.completions.create(ask);
    const said = choices[0]?.message;
    const messages = [
      ...ask.messages,
      ...(said === undefined ? [] : [said]),
      { role: 'user' as const, content: 'Use port 5433.' },
    ];
    expect((await client.chat.completions.create({ model: 'm', messages })).choices[0]?.message.content).toBe(
      'from the model',
    );
    expect(upstream.requests).toHaveLength(1);
  });

  it('is not stopped for a loop that it has left', async () => {
    const { upstream, url } = await start(chatAnswer);
    const messages: OpenAI.ChatCompletionMessageParam[] = [
      ...chatMessages(4),
      {
        role: 'assistant',
        content: null,
        tool_calls: [{ id: 'z', type: 'function', function: { name: 'start_database', arguments: '{}' } }],
      },
      { role: 'tool', tool_call_id: 'z', content: 'started on port 5432' },
    ];
    await officialClient(url).chat.completions.create({ model: 'm', messages });
    expect(upstream.requests).toHaveLength(1);
  });

  it('is named in the notes without its key, its texts or its query', async () => {
    const { url, notes } = await start(chatAnswer);
    await rawAnswer(url, rawPost('/v1/chat/completions?key=sk-query', JSON.stringify(ask)));
    expect(notes).toEqual([
      {
        event: 'stopped',
        path: '/v1/chat/completions',
        rule: 'same_call_failing',
        conversation: expect.any(String),
        calls: 4,
      },
    ]);
    expect(JSON.stringify(notes)).not.toMatch(/sk-|ECONNREFUSED|Migrate/);
  });
});
