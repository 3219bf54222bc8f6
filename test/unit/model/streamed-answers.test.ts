/** Streamed answers of endpoints that behave in odd ways, over a real socket. Each answer is what it is without streaming. */
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text as readText } from 'node:stream/consumers';
import { afterEach, describe, expect, it } from 'vitest';
import { askModel } from '../../../src/model/ask-model.ts';
import type { ModelRequest } from '../../../src/model/request.ts';
import type { ModelDeltaPart } from '../../../src/protocol/model-delta.ts';

const servers: Server[] = [];
afterEach(() => {
  for (const server of servers.splice(0)) {
    server.closeAllConnections();
    server.close();
  }
});

interface Asked {
  stream?: boolean;
  [field: string]: unknown;
}
interface Given {
  status?: number;
  type?: string;
  body: string;
}

async function serve(answer: (asked: Asked) => Given): Promise<{ url: string; asked: Asked[] }> {
  const asked: Asked[] = [];
  const server = createServer((request, response) => {
    const respond = async (): Promise<void> => {
      const body = JSON.parse(await readText(request)) as Asked;
      asked.push(body);
      const { status = 200, type = 'application/json', body: given } = answer(body);
      response.writeHead(status, { 'content-type': type }).end(given);
    };
    void respond();
  });
  servers.push(server);
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`, asked };
}

const request: ModelRequest = {
  instructions: 'You read files.',
  messages: [{ role: 'user', text: 'read the file' }],
  tools: [{ name: 'fs.read', description: 'Reads a file', input_schema: { type: 'object', properties: {} } }],
  max_output_tokens: 500,
  timeout_ms: 10_000,
};

const head = { id: 'c1', created: 1, model: 'm' };
const usage = { prompt_tokens: 7, completion_tokens: 5, total_tokens: 12, prompt_tokens_details: { cached_tokens: 3 } };
const call = (args: string) => ({ name: 'fs_read', arguments: args });
const whole = JSON.stringify({
  ...head,
  object: 'chat.completion',
  choices: [
    {
      index: 0,
      message: {
        role: 'assistant',
        content: 'I read it.',
        reasoning_content: 'It is a file.',
        tool_calls: [
          {
            id: 'a',
            type: 'function',
            function: call('{"path":"a b"}'),
            extra_content: { google: { signature: 's1' } },
          },
          { id: 'b', type: 'function', function: call('{}') },
        ],
      },
      finish_reason: 'tool_calls',
    },
  ],
  usage,
});
const chunk = (delta: object, finish_reason: string | null = null): object => ({
  ...head,
  object: 'chat.completion.chunk',
  choices: [{ index: 0, delta, finish_reason }],
});
const CHUNKS = [
  chunk({ role: 'assistant', content: '', reasoning_content: 'It is ' }),
  chunk({ reasoning_content: 'a file.' }),
  chunk({ content: 'I read' }),
  chunk({ content: ' it.' }),
  chunk({
    tool_calls: [
      {
        index: 0,
        id: 'a',
        type: 'function',
        function: call('{"path"'),
        extra_content: { google: { signature: 's1' } },
      },
    ],
  }),
  chunk({ tool_calls: [{ index: 0, function: { arguments: ':"a b"}' } }] }),
  // Some servers repeat the id and the type in every chunk.
  chunk({ tool_calls: [{ index: 1, id: 'b', type: 'function', function: call('') }] }),
  chunk({ tool_calls: [{ index: 1, id: 'b', type: 'function', function: { arguments: '{}' } }] }),
  chunk({}, 'tool_calls'),
  { ...head, object: 'chat.completion.chunk', choices: [], usage },
];
const stream = (chunks: readonly object[] = CHUNKS): string =>
  `: hello\n\n${[...chunks.map((one) => JSON.stringify(one)), '[DONE]'].map((data) => `data: ${data}\n\n`).join('')}`;
const EVENTS = 'text/event-stream; charset=utf-8';

async function ask(url: string, isStreamed = true) {
  const parts: ModelDeltaPart[] = [];
  const onDelta = (part: ModelDeltaPart): void => void parts.push(part);
  const options = { model: { base_url: url, model: 'm' }, ...(isStreamed && { onDelta }) };
  const { duration_ms: _duration, ...outcome } = await askModel(request, options);
  return { outcome, parts };
}

describe('a streamed answer', () => {
  it('is the same as the whole one, with its reasoning, signatures, calls and usage', async () => {
    const { url } = await serve(({ stream: isStreamed }) =>
      isStreamed ? { type: EVENTS, body: stream() } : { body: whole },
    );
    const streamed = await ask(url);
    const plain = await ask(url, false);
    expect(plain.outcome).toMatchObject({ class: 'ok', usage: { input_tokens: 7, output_tokens: 5 } });
    expect(streamed.outcome).toEqual(plain.outcome);
    expect(plain.parts).toEqual([]);
    expect(streamed.parts).toEqual([
      { kind: 'text', text: 'I read' },
      { kind: 'text', text: ' it.' },
      { kind: 'tool_call', call_id: 'a', tool: 'fs.read', text: '{"path"' },
      { kind: 'tool_call', call_id: 'a', tool: 'fs.read', text: ':"a b"}' },
      { kind: 'tool_call', call_id: 'b', tool: 'fs.read', text: '' },
      { kind: 'tool_call', call_id: 'b', tool: 'fs.read', text: '{}' },
    ]);
  });

  it('is read although a gateway names another type', async () => {
    const { url } = await serve(() => ({ body: stream() }));
    expect((await ask(url)).outcome).toMatchObject({ class: 'ok', text: 'I read it.' });
  });

  it('may come whole from a server that ignores the request for a stream', async () => {
    const { url, asked } = await serve(() => ({ body: whole }));
    expect(await ask(url)).toMatchObject({ outcome: { class: 'ok', text: 'I read it.' }, parts: [] });
    expect(asked[0]).toMatchObject({ stream: true, stream_options: { include_usage: true } });
  });

  it('is not asked for again at an endpoint that refuses streams', async () => {
    const refusal = JSON.stringify({ error: { message: 'stream_options is not supported', type: 'invalid_request' } });
    const { url, asked } = await serve(({ stream: isStreamed }) =>
      isStreamed ? { status: 400, body: refusal } : { body: whole },
    );
    expect((await ask(url)).outcome).toMatchObject({ class: 'ok', text: 'I read it.' });
    expect((await ask(url)).outcome).toMatchObject({ class: 'ok', text: 'I read it.' });
    expect(asked.map(({ stream: isStreamed }) => isStreamed === true)).toEqual([true, false, false]);
  });

  it('that ends without an end, or with the error of a gateway, is a failure', async () => {
    const cut = await serve(() => ({ type: EVENTS, body: stream(CHUNKS.slice(0, 5)) }));
    expect((await ask(cut.url)).outcome).toMatchObject({ class: 'failed', category: 'network', certainty: 'unknown' });
    const error = { error: { code: 429, message: 'the model is busy' } };
    const busy = await serve(() => ({ type: EVENTS, body: stream([CHUNKS[0] ?? {}, error]) }));
    const plain = await serve(() => ({ body: JSON.stringify(error) }));
    expect((await ask(busy.url)).outcome).toEqual((await ask(plain.url, false)).outcome);
    expect((await ask(busy.url)).outcome).toMatchObject({ class: 'failed', category: 'rate_limit' });
  });
});
