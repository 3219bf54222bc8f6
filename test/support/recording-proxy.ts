/** A proxy in front of a model's endpoint that keeps the exact bytes of every request. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text as readText } from 'node:stream/consumers';

export interface RecordingProxy {
  url: string;
  /** The body of every request, oldest first. */
  readonly bodies: readonly string[];
  close(): Promise<void>;
}

export async function recordRequests(target: string): Promise<RecordingProxy> {
  const bodies: string[] = [];
  const server = createServer((request, response) => {
    const forward = async (): Promise<void> => {
      const body = await readText(request);
      bodies.push(body);
      const answer = await fetch(`${target}${request.url ?? ''}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', authorization: request.headers.authorization ?? '' },
        body,
      });
      const headers = { 'content-type': answer.headers.get('content-type') ?? 'application/json' };
      response.writeHead(answer.status, headers).end(await answer.text());
    };
    forward().catch(() => response.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    bodies,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
