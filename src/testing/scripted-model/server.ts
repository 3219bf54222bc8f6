import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text as readText } from 'node:stream/consumers';
import { buildChunks, buildCompletion, buildErrorBody } from './chat-answer.ts';
import { type ChatRequest, readChatRequest, UnreadableRequest } from './chat-request.ts';
import { createPlayer, type Exchange, type ScriptedCounts, type ScriptPlayer } from './player.ts';
import { errorReply } from './reply.ts';
import type { ScriptedAnswer, Reply, Script } from './script.ts';

export interface ScriptedServer {
  /** Use it as `OPENAI_BASE_URL`. */
  url: string;
  /** Every request with its reply, oldest first. */
  readonly exchanges: readonly Exchange[];
  counts(): ScriptedCounts;
  close(): Promise<void>;
}

export interface ScriptedServerOptions {
  /** Default: 0, which chooses a free port. */
  port?: number;
  /** The key that requests must have. Default: any key is accepted. */
  apiKey?: string;
  /** The name under `/v1/models`. */
  model?: string;
}

/** Serves a script on the loopback address, with OpenAI's chat completions API. */
export async function serveScriptedModel(
  script: Script | { readonly player: ScriptPlayer },
  { port = 0, apiKey, model = 'scripted' }: ScriptedServerOptions = {},
): Promise<ScriptedServer> {
  const player = 'player' in script ? script.player : createPlayer(script);
  const server = createServer((request, response) => {
    answer(request, response, { player, apiKey, model }).catch((error: unknown) => {
      response.destroy(error instanceof Error ? error : undefined);
    });
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, '127.0.0.1', resolve);
  });
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    exchanges: player.exchanges,
    counts: () => player.counts(),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        // Requests that hang would keep the server open forever.
        server.closeAllConnections();
      }),
  };
}

interface ServerContext {
  player: ScriptPlayer;
  apiKey: string | undefined;
  model: string;
}

async function answer(request: IncomingMessage, response: ServerResponse, context: ServerContext): Promise<void> {
  const route = `${request.method} ${(request.url ?? '').split('?')[0]}`;
  if (context.apiKey !== undefined && request.headers.authorization !== `Bearer ${context.apiKey}`) {
    return sendReply(response, errorReply(401, 'invalid_api_key', 'Incorrect API key provided.'));
  }
  if (route === 'GET /v1/models') {
    const data = [{ id: context.model, object: 'model', created: 0, owned_by: 'secondwind' }];
    return sendJson(response, 200, { object: 'list', data });
  }
  if (route !== 'POST /v1/chat/completions') {
    return sendReply(response, errorReply(404, 'not_found', `There is no ${route} here.`));
  }
  let asked: ChatRequest;
  try {
    asked = readChatRequest(await readText(request));
  } catch (error) {
    if (!(error instanceof UnreadableRequest)) throw error;
    return sendReply(response, context.player.refuse(error.message));
  }
  const { includeUsage, ...scripted } = asked;
  const reply = await context.player.play(scripted);
  if (asked.stream) await sendStream(response, reply, asked.model, includeUsage);
  else await sendReply(response, reply, asked.model);
}

async function sendReply(response: ServerResponse, reply: Reply, model = ''): Promise<void> {
  switch (reply.kind) {
    case 'answer':
      await reply.hold?.();
      return sendJson(response, 200, buildCompletion(reply, model));
    case 'error':
      return sendJson(response, reply.status, buildErrorBody(reply), reply.headers);
    case 'bad_json':
      response.writeHead(200, { 'content-type': 'application/json' });
      response.end(reply.body);
      return;
    case 'hang':
      return;
    case 'cut': {
      const body = JSON.stringify(buildCompletion(reply.answer, model));
      response.writeHead(200, {
        'content-type': 'application/json',
        'content-length': String(Buffer.byteLength(body)),
      });
      await written(response, body.slice(0, body.length / 2));
      response.destroy();
    }
  }
}

async function sendStream(response: ServerResponse, reply: Reply, model: string, includeUsage: boolean): Promise<void> {
  if (reply.kind === 'error' || reply.kind === 'hang') return sendReply(response, reply, model);
  response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-cache' });
  if (reply.kind === 'bad_json') {
    await written(response, event(reply.body));
    response.end();
    return;
  }
  const events = (whole: ScriptedAnswer): string[] =>
    buildChunks(whole, model, includeUsage).map((chunk) => event(JSON.stringify(chunk)));
  if (reply.kind === 'answer') {
    const all = events(reply);
    const ending = all.slice(includeUsage ? -2 : -1);
    for (const one of all.slice(0, -ending.length)) await written(response, one);
    await reply.hold?.();
    for (const one of ending) await written(response, one);
    response.end(event('[DONE]'));
    return;
  }
  const all = events(reply.answer);
  for (const one of all.slice(0, Math.ceil(all.length / 2))) await written(response, one);
  response.destroy();
}

const event = (data: string): string => `data: ${data}\n\n`;

const written = (response: ServerResponse, data: string): Promise<void> =>
  new Promise((resolve) => {
    // A caller that disconnects early is not an error.
    response.write(data, () => resolve());
  });

function sendJson(response: ServerResponse, status: number, body: unknown, headers: Record<string, string> = {}): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers });
  response.end(JSON.stringify(body));
}
