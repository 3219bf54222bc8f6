import { isUtf8 } from 'node:buffer';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { createHash, randomUUID } from 'node:crypto';
import type { GuardSettings } from '../../core/guard/guard-state.ts';
import { isFields } from '../../core/inspect/events.ts';
import { makeFinalAnswer } from '../../core/proxy/final-answer.ts';
import { insertGuidance } from '../../core/proxy/insert-guidance.ts';
import { type Conversation, findApi, type ModelApi, readConversation } from '../../core/proxy/read-conversation.ts';
import { createUpstream, type RequestBody } from './forward.ts';
import { JudgedConversations } from './judged-conversations.ts';
import { readBody } from './read-body.ts';
import { SeenConversations } from './seen-conversations.ts';

/** Larger requests pass through unread. */
const BODY_BYTES = 32 * 1024 * 1024;

export const REPORT_PATH = '/secondwind/report';

/** What the proxy tells about a request. It never contains text of a conversation, a query or a header. */
export interface ProxyNote {
  event: 'guided' | 'stopped' | 'unreachable' | 'unread';
  path: string;
  rule?: string;
  conversation?: string;
  calls?: number;
  why?: string;
}

export interface ProxySettings {
  upstream: URL;
  guard: GuardSettings;
  say: (note: ProxyNote) => void;
  bodyBytes?: number;
}

const pathOf = (request: IncomingMessage): string => (request.url ?? '/').split('?', 1)[0] ?? '/';

const sendJson = (response: ServerResponse, status: number, value: object): void => {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(value));
};

/** The conversation in a body, or null if the body is something else. */
const parseBody = (
  api: ModelApi,
  text: string,
): { body: Record<string, unknown>; conversation: Conversation } | null => {
  try {
    const body: unknown = JSON.parse(text);
    return isFields(body) ? { body, conversation: readConversation(api, body) } : null;
  } catch {
    return null;
  }
};

/** The hash of what stays the same in all requests of a conversation: its first message and its first call. */
const hashStart = (body: Record<string, unknown>, { calls }: Conversation): string => {
  const first = calls[0];
  const list = Array.isArray(body['messages']) ? body['messages'] : body['input'];
  const start = JSON.stringify([Array.isArray(list) ? list[0] : list, first?.tool, first?.input]);
  return createHash('sha256').update(start).digest('hex');
};

/**
 * A proxy for the APIs of models. A request without a loop, and every answer of the upstream, passes byte for byte. In
 * `guide` mode a hint is added to the result of a call that shows a loop; in `enforce` mode a stuck agent gets a final
 * message instead of another turn of the model. If the guard fails, the request passes.
 */
export function createProxy({ upstream: base, guard, say, bodyBytes = BODY_BYTES }: ProxySettings): {
  server: Server;
  close: () => void;
} {
  const seen = new SeenConversations();
  const judged = new JudgedConversations(guard);
  const upstream = createUpstream(base, (response, error) => {
    const code = 'code' in error ? String(error.code) : error.name;
    say({ event: 'unreachable', path: base.host, why: code });
    const message = `The proxy cannot reach the upstream ${base.origin} (${code}). Check its address and that it is running.`;
    sendJson(response, 502, { error: { message, type: 'upstream_unreachable', param: null, code } });
  });

  /** Returns the body to send on, or null if the request was answered here. */
  const guardRequest = (
    request: IncomingMessage,
    response: ServerResponse,
    api: ModelApi,
    body: Buffer,
  ): Buffer | null => {
    // Other bytes could not be written back as they were.
    if (!isUtf8(body)) return body;
    const text = body.toString('utf8');
    const parsed = parseBody(api, text);
    if (parsed === null || parsed.conversation.calls.length === 0) return body;
    const { conversation } = parsed;
    const start = hashStart(parsed.body, conversation);
    const { guidance, stop, report } = judged.judge(start, conversation);
    const did = stop !== null ? 'stopped' : guidance.length > 0 ? 'guided' : null;
    const { model } = conversation;
    const known = seen.note(start, { api, model }, report, did);
    if (did === null) return body;
    const rule = report.loops.at(-1)?.rule ?? 'unknown';
    say({ event: did, path: pathOf(request), rule, conversation: known.conversation, calls: known.calls });
    if (stop === null) return Buffer.from(insertGuidance(text, api, guidance));
    const created = Math.floor(Date.now() / 1000);
    const id = `secondwind${randomUUID().replaceAll('-', '')}`;
    const answer = makeFinalAnswer(api, { ...conversation, id, created, text: stop.text });
    response.writeHead(200, { 'content-type': answer.contentType, 'x-secondwind': 'stopped' }).end(answer.body);
    return null;
  };

  const handle = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const path = pathOf(request);
    if (request.method === 'GET' && path === REPORT_PATH) return sendJson(response, 200, seen.report());
    const api = request.method === 'POST' ? findApi(path) : null;
    const isPlain = request.headers['content-encoding'] === undefined;
    if (api === null || !isPlain) return upstream.forward(request, response, { read: Buffer.alloc(0), rest: request });
    const body: RequestBody = await readBody(request, bodyBytes);
    if (body.rest !== null) {
      say({ event: 'unread', path, why: `the body is larger than ${bodyBytes} bytes` });
      return upstream.forward(request, response, body);
    }
    const sent = guardOrPass(request, response, api, body.read);
    if (sent !== null) upstream.forward(request, response, { read: sent, rest: null });
  };

  const guardOrPass = (
    request: IncomingMessage,
    response: ServerResponse,
    api: ModelApi,
    body: Buffer,
  ): Buffer | null => {
    try {
      return guardRequest(request, response, api, body);
    } catch (error) {
      say({ event: 'unread', path: pathOf(request), why: error instanceof Error ? error.name : 'unknown' });
      return body;
    }
  };

  const server = createServer((request, response) => {
    handle(request, response).catch(() => response.destroy());
  });
  // A model may think for a long time before it answers, and a large request may arrive slowly.
  server.requestTimeout = 0;
  return {
    server,
    close: () => {
      server.close();
      server.closeAllConnections();
      upstream.close();
    },
  };
}
