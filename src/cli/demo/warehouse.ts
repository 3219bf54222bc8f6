import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A small HTTP service for the demo. It refuses large pages, and the answer to its first order gets lost. */
export interface Warehouse {
  url: string;
  /** The number of orders that were really placed. */
  orders(): number;
  close(): Promise<void>;
}

const MAX_LIMIT = 100;

export async function openWarehouse(): Promise<Warehouse> {
  let orders = 0;
  const server: Server = createServer((request, response) => {
    const url = new URL(request.url ?? '/', 'http://warehouse');
    const answer = (status: number, body: unknown): void => {
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
    };
    if (request.method === 'POST' && url.pathname === '/orders') {
      orders += 1;
      // The first order is accepted, but its answer is lost.
      if (orders === 1) request.socket.destroy();
      else answer(201, { order: orders });
      return;
    }
    if (url.pathname === '/recount') {
      setTimeout(() => answer(200, { pallets: 12 }), 1_500);
      return;
    }
    const limit = Number(url.searchParams.get('limit'));
    if (limit > MAX_LIMIT) answer(422, { error: `limit ${limit} is over ${MAX_LIMIT}` });
    else answer(200, { items: limit, next: null });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    orders: () => orders,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
