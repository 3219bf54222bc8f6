import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import { getRequestListener, type Http2Bindings, type HttpBindings } from '@hono/node-server';
import { SecondwindError } from '../protocol/errors.ts';
import { Problem } from './problem.ts';

/** How long requests that are already in may take once the door closes. */
const DRAIN_MS = 5_000;
const SWEEP_MS = 50;
/** How long a request may take to arrive: its head, and all of it. */
const HEAD_MS = 10_000;
const REQUEST_MS = 30_000;
/** Room for the longest address that a route takes. */
const MAX_HEADER_BYTES = 64 * 1024;

export interface ServeOptions {
  host: string;
  /** 0: any free one. */
  port: number;
  headMs?: number;
  requestMs?: number;
}
export interface ServedApi {
  url: string;
  port: number;
  /** Takes no new requests, lets those that are in finish, and ends. Safe to call twice. */
  close(): Promise<void>;
}
export interface Fetching {
  fetch(request: Request): Response | Promise<Response>;
}

/** Puts an API on a port. What it serves may change later: `app.fetch` is asked anew for each request. */
export async function serveApi(app: Fetching, options: ServeOptions): Promise<ServedApi> {
  const { host, port, headMs = HEAD_MS, requestMs = REQUEST_MS } = options;
  let closing: Promise<void> | undefined;
  const streams = new Set<{ destroy(): unknown }>();
  const answer = async (request: Request, { outgoing }: HttpBindings | Http2Bindings): Promise<Response> => {
    const response = await app.fetch(request);
    if (!isStream(response)) return response;
    if (closing !== undefined) {
      await response.body?.cancel();
      return new Problem('not_reachable', 'The server is ending. Come back with the last id.').toResponse();
    }
    streams.add(outgoing);
    outgoing.once('close', () => streams.delete(outgoing));
    return response;
  };
  const listener = getRequestListener(answer, {
    overrideGlobalObjects: false,
    // Only what is no request at all comes here; the app answers everything else itself.
    errorHandler: () => NOT_HTTP.toResponse(),
  });
  const limits = {
    headersTimeout: headMs,
    requestTimeout: requestMs,
    connectionsCheckingInterval: Math.min(1_000, headMs),
    maxHeaderSize: MAX_HEADER_BYTES,
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
    // A stream ends only when somebody ends it; its reader comes back to whoever serves next and misses nothing.
    for (const stream of streams) stream.destroy();
    const force = setTimeout(() => server.closeAllConnections(), DRAIN_MS);
    // A connection whose last request has just been answered is kept open for another that will not come.
    const sweep = setInterval(() => server.closeIdleConnections(), SWEEP_MS);
    await closed;
    clearTimeout(force);
    clearInterval(sweep);
  };
  const name = host.includes(':') ? `[${host}]` : host;
  return { url: `http://${name}:${chosen}`, port: chosen, close: () => (closing ??= close()) };
}

/** What Node cannot read as a request never reaches the app; it is told as a problem all the same. */
function refuse(error: Error, socket: Duplex): void {
  if (!socket.writable) return;
  const code = 'code' in error ? error.code : undefined;
  const [problem, reason] = REFUSALS.get(code) ?? [NOT_HTTP, 'Bad Request'];
  const { status, headers, body } = problem.toParts();
  const head = { ...headers, 'content-length': String(Buffer.byteLength(body)), connection: 'close' };
  const lines = Object.entries(head).map(([name, value]) => `${name}: ${value}`);
  socket.end([`HTTP/1.1 ${status} ${reason}`, ...lines, '', body].join('\r\n'));
}

const NOT_HTTP = new Problem('bad_http', 'Send a complete request with a valid Host header.');
const REFUSALS = new Map<unknown, [Problem, string]>([
  [
    'HPE_HEADER_OVERFLOW',
    [
      new Problem('large_head', `Send an address and headers of at most ${MAX_HEADER_BYTES} bytes.`),
      'Request Header Fields Too Large',
    ],
  ],
  ['ERR_HTTP_REQUEST_TIMEOUT', [new Problem('slow_request', 'Send the request again, faster.'), 'Request Timeout']],
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
  const message = `Nobody can listen on ${host} port ${port} (${error.message}).`;
  return new SecondwindError('port_refused', message, 'Correct --host and --port.', error);
}
