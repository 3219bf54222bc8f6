import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import { getRequestListener, type Http2Bindings, type HttpBindings } from '@hono/node-server';
import { SecondwindError } from '../protocol/errors.ts';
import { Problem } from './problem.ts';

/** How long open requests may take once the server shuts down. */
const DRAIN_MS = 5_000;
const SWEEP_MS = 50;
/** How long the headers, and the whole request, may take to arrive. */
const HEAD_MS = 10_000;
const REQUEST_MS = 30_000;
/** How long a connection without a request is kept for the next one. */
const IDLE_MS = 5_000;
/** Three beats of a stream. */
const STREAM_STALL_MS = 45_000;
/** Enough for the longest query that a route accepts. */
const MAX_HEADER_BYTES = 64 * 1024;

export interface ServeOptions {
  host: string;
  /** 0 for any free port. */
  port: number;
  headMs?: number;
  requestMs?: number;
  /** After so long without a byte the reader of a stream counts as gone. */
  streamStallMs?: number;
}
export interface ServedApi {
  url: string;
  port: number;
  /** How many connections are open. */
  connections(): Promise<number>;
  /** Stops accepting requests, lets open ones finish, and closes. Safe to call twice. */
  close(): Promise<void>;
}
export interface Fetching {
  fetch(request: Request): Response | Promise<Response>;
}

/** Serves an API on a port. `app.fetch` is read for each request, so the app may be replaced later. */
export async function serveApi(app: Fetching, options: ServeOptions): Promise<ServedApi> {
  const { host, port, headMs = HEAD_MS, requestMs = REQUEST_MS, streamStallMs = STREAM_STALL_MS } = options;
  let closing: Promise<void> | undefined;
  const streams = new Set<{ destroy(): unknown }>();
  const answer = async (request: Request, { outgoing }: HttpBindings | Http2Bindings): Promise<Response> => {
    const response = await app.fetch(request);
    if (!isStream(response)) return response;
    if (closing !== undefined) {
      await response.body?.cancel();
      return new Problem(
        'not_reachable',
        'The server is shutting down. Connect again with the id of the last event.',
      ).toResponse();
    }
    // Nothing is written to a reader that does not read, not even a beat, so its connection falls silent.
    outgoing.setTimeout(streamStallMs, () => outgoing.destroy());
    streams.add(outgoing);
    outgoing.once('close', () => streams.delete(outgoing));
    return response;
  };
  const listener = getRequestListener(answer, {
    overrideGlobalObjects: false,
    // Only malformed requests come here; the app handles all other errors.
    errorHandler: () => NOT_HTTP.toResponse(),
  });
  const limits = {
    headersTimeout: headMs,
    requestTimeout: requestMs,
    connectionsCheckingInterval: Math.min(1_000, headMs),
    maxHeaderSize: MAX_HEADER_BYTES,
    keepAliveTimeout: IDLE_MS,
    // The system asks a silent peer whether it is still there, so that a lost machine leaves no connection behind.
    keepAlive: true,
    keepAliveInitialDelay: 30_000,
  };
  const server = createServer(limits, (request, response) => void listener(request, response));
  server.on('clientError', (error: Error, socket: Duplex) => refuse(error, socket));
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error) => reject(cannotListen(error, host, port)));
    server.listen({ host, port, exclusive: true }, resolve);
  });
  const { port: chosen } = server.address() as AddressInfo;
  const close = async (): Promise<void> => {
    const closed = new Promise<void>((resolve) => void server.close(() => resolve()));
    server.closeIdleConnections();
    // Streams do not end by themselves. Their readers reconnect to the next server and miss nothing.
    for (const stream of streams) stream.destroy();
    const force = setTimeout(() => server.closeAllConnections(), DRAIN_MS);
    // Closes keep-alive connections, which would otherwise stay open after their last answer.
    const sweep = setInterval(() => server.closeIdleConnections(), SWEEP_MS);
    await closed;
    clearTimeout(force);
    clearInterval(sweep);
  };
  const connections = (): Promise<number> =>
    new Promise((resolve, reject) => {
      server.getConnections((error, count) => (error ? reject(error) : resolve(count)));
    });
  const name = host.includes(':') ? `[${host}]` : host;
  return { url: `http://${name}:${chosen}`, port: chosen, connections, close: () => (closing ??= close()) };
}

/** Answers with a problem if Node cannot parse the request, because the app never sees it. */
function refuse(error: Error, socket: Duplex): void {
  if (!socket.writable) {
    socket.destroy();
    return;
  }
  const code = 'code' in error ? error.code : undefined;
  const [problem, reason] = REFUSALS.get(code) ?? [NOT_HTTP, 'Bad Request'];
  const { status, headers, body } = problem.toParts();
  const head = { ...headers, 'content-length': String(Buffer.byteLength(body)), connection: 'close' };
  const lines = Object.entries(head).map(([name, value]) => `${name}: ${value}`);
  // A peer that has stopped answering would keep its half of the connection open.
  socket.end([`HTTP/1.1 ${status} ${reason}`, ...lines, '', body].join('\r\n'), () => socket.destroy());
}

const NOT_HTTP = new Problem('bad_http', 'Send a complete request with a valid Host header.');
const REFUSALS = new Map<unknown, [Problem, string]>([
  [
    'HPE_HEADER_OVERFLOW',
    [
      new Problem('large_head', `Send a URL and headers of at most ${MAX_HEADER_BYTES} bytes.`),
      'Request Header Fields Too Large',
    ],
  ],
  [
    'ERR_HTTP_REQUEST_TIMEOUT',
    [
      new Problem('slow_request', 'The request did not arrive in time. Send it again over a faster connection.'),
      'Request Timeout',
    ],
  ],
]);

const isStream = (response: Response): boolean =>
  response.headers.get('content-type')?.startsWith('text/event-stream') === true;

function cannotListen(error: Error, host: string, port: number): SecondwindError {
  const code = 'code' in error ? error.code : undefined;
  if (code === 'EADDRINUSE') {
    return new SecondwindError(
      'port_taken',
      `Port ${port} on ${host} is taken by another program.`,
      'Stop that program, or choose another port with --port or SECONDWIND_PORT.',
      error,
    );
  }
  if (code === 'EACCES') {
    const message = `This user may not listen on port ${port}.`;
    return new SecondwindError('port_refused', message, 'Choose a port above 1023 with --port.', error);
  }
  const message = `Cannot listen on ${host} port ${port} (${error.message}).`;
  return new SecondwindError('port_refused', message, 'Correct --host and --port.', error);
}
