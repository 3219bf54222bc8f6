/** A real HTTP server in the place of a model's API, whose answers the test writes. It keeps every request as bytes. */
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';

export interface UpstreamRequest {
  method: string;
  url: string;
  headers: IncomingHttpHeaders;
  body: Buffer;
}

export interface TestUpstream {
  url: string;
  readonly requests: readonly UpstreamRequest[];
  close(): Promise<void>;
}

export type Answering = (
  request: UpstreamRequest,
  response: ServerResponse,
  incoming: IncomingMessage,
) => void | Promise<void>;

export async function serveUpstream(answer: Answering): Promise<TestUpstream> {
  const requests: UpstreamRequest[] = [];
  const server = createServer((incoming, response) => {
    const take = async (): Promise<void> => {
      const body = await buffer(incoming);
      const request = { method: incoming.method ?? '', url: incoming.url ?? '', headers: incoming.headers, body };
      requests.push(request);
      await answer(request, response, incoming);
    };
    take().catch(() => response.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
