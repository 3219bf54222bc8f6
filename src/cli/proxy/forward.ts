import { Agent as HttpAgent, type IncomingMessage, request as httpRequest, type ServerResponse } from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';
import { pipeline } from 'node:stream';

/** Headers that belong to one connection. Everything else passes through. */
const HOP_BY_HOP = new Set([
  'connection',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);

/** Headers as they were sent: in their order, with their spelling and with repetitions. */
const passedHeaders = (raw: readonly string[], dropped: ReadonlySet<string> = HOP_BY_HOP): string[] => {
  const kept: string[] = [];
  for (let at = 0; at + 1 < raw.length; at += 2) {
    const name = raw[at] ?? '';
    if (!dropped.has(name.toLowerCase())) kept.push(name, raw[at + 1] ?? '');
  }
  return kept;
};

/** `Expect` was answered by the server here already. */
const REPLACED = new Set([...HOP_BY_HOP, 'host', 'content-length', 'expect']);

/** The rest of a body that was too large to keep, after what was read of it. */
export interface RequestBody {
  read: Buffer;
  rest: IncomingMessage | null;
}

export interface Upstream {
  forward(request: IncomingMessage, response: ServerResponse, body: RequestBody): void;
  close(): void;
}

/**
 * A path of the client is appended to the address of the upstream. If both have the same beginning, such as `/v1`, it
 * is there once.
 */
export const upstreamPath = (base: URL, path: string): string => {
  const prefix = base.pathname.replace(/\/+$/, '');
  const isWithin = prefix === '' || path === prefix || path.startsWith(`${prefix}/`) || path.startsWith(`${prefix}?`);
  return isWithin ? path : `${prefix}${path}`;
};

/** Sends requests on to the upstream, and its answers back, byte for byte. */
export function createUpstream(base: URL, onUnreachable: (response: ServerResponse, error: Error) => void): Upstream {
  const isHttps = base.protocol === 'https:';
  const agent = isHttps ? new HttpsAgent({ keepAlive: true }) : new HttpAgent({ keepAlive: true });
  const send = isHttps ? httpsRequest : httpRequest;

  const forward = (request: IncomingMessage, response: ServerResponse, body: RequestBody, isRetry = false): void => {
    const { read, rest } = body;
    const length = rest === null ? String(read.length) : request.headers['content-length'];
    const hasBody =
      request.headers['content-length'] !== undefined || request.headers['transfer-encoding'] !== undefined;
    const headers = [
      'Host',
      base.host,
      ...passedHeaders(request.rawHeaders, REPLACED),
      ...(hasBody && length !== undefined ? ['Content-Length', length] : []),
    ];
    const sent = send({
      agent,
      protocol: base.protocol,
      hostname: base.hostname.replace(/^\[|\]$/g, ''),
      port: base.port,
      method: request.method,
      path: upstreamPath(base, request.url ?? '/'),
      headers,
      setHost: false,
    });
    sent.on('response', (answer) => {
      // Node would add a date of its own where the upstream has none.
      response.sendDate = false;
      response.writeHead(answer.statusCode ?? 502, answer.statusMessage ?? '', passedHeaders(answer.rawHeaders));
      // A stream may be silent for a while after its headers, and the client waits for them.
      response.flushHeaders();
      answer.on('end', () => {
        if (answer.rawTrailers.length > 0) response.addTrailers(pairs(answer.rawTrailers));
      });
      // If one side breaks off, so does the other: the client sees what it would have seen without the proxy.
      pipeline(answer, response, () => undefined);
    });
    sent.on('error', (error: Error & { code?: string }) => {
      if (response.headersSent || response.destroyed) return void response.destroy();
      // The upstream closed a connection that was idle, at the moment when it was used again. Nothing was answered.
      if (sent.reusedSocket && !isRetry && rest === null && error.code === 'ECONNRESET') {
        return forward(request, response, body, true);
      }
      onUnreachable(response, error);
    });
    response.on('close', () => {
      if (!response.writableFinished) sent.destroy();
    });
    if (rest === null) sent.end(read);
    else {
      if (read.length > 0) sent.write(read);
      pipeline(rest, sent, () => undefined);
    }
  };
  return { forward: (request, response, body) => forward(request, response, body), close: () => agent.destroy() };
}

const pairs = (raw: readonly string[]): [string, string][] => {
  const found: [string, string][] = [];
  for (let at = 0; at + 1 < raw.length; at += 2) found.push([raw[at] ?? '', raw[at + 1] ?? '']);
  return found;
};
