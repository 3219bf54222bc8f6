import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { getRequestListener } from '@hono/node-server';
import { SecondwindError } from '../client/errors.ts';
import { Problem } from './problem.ts';

/** How long requests that are already in may take once the door closes. */
const DRAIN_MS = 5_000;

export interface ServeOptions {
  host: string;
  /** 0: any free one. */
  port: number;
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
export async function serveApi(app: Fetching, { host, port }: ServeOptions): Promise<ServedApi> {
  const listener = getRequestListener((request) => app.fetch(request), {
    overrideGlobalObjects: false,
    // Only what is no request at all comes here; the app answers everything else itself.
    errorHandler: () => new Problem('bad_http', 'Send a complete request with a valid Host header.').toResponse(),
  });
  const server = createServer((request, response) => void listener(request, response));
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error) => reject(cannotListen(error, host, port)));
    server.listen({ host, port, exclusive: true }, resolve);
  });
  const { port: chosen } = server.address() as AddressInfo;
  let closing: Promise<void> | undefined;
  const close = async (): Promise<void> => {
    const closed = new Promise<void>((resolve) => void server.close(() => resolve()));
    server.closeIdleConnections();
    const force = setTimeout(() => server.closeAllConnections(), DRAIN_MS);
    await closed;
    clearTimeout(force);
  };
  const name = host.includes(':') ? `[${host}]` : host;
  return { url: `http://${name}:${chosen}`, port: chosen, close: () => (closing ??= close()) };
}

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
