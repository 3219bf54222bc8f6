/** The door on a real port. Needs nothing of the stack: what is behind the door is not asked. */
import { once } from 'node:events';
import { connect } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import { type ServedApi, serveApi } from '../../src/api/index.ts';

async function served(fetch: (request: Request) => Response | Promise<Response>): Promise<ServedApi> {
  const api = await serveApi({ fetch }, { host: '127.0.0.1', port: 0 });
  onTestFinished(() => api.close());
  return api;
}
const later = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

describe('a served API', () => {
  it('lets a request that is in finish, and takes no other, while it closes', async () => {
    const api = await served(async () => {
      await later(300);
      return new Response('done');
    });
    const slow = fetch(api.url).then((answer) => answer.text());
    await later(100);
    const closed = api.close();
    await expect(fetch(api.url)).rejects.toThrow('fetch failed');
    expect(await slow).toBe('done');
    await closed;
  });

  it('closes at once when connections are only kept open', async () => {
    const api = await served(() => new Response('ok'));
    await (await fetch(api.url)).text();
    const began = Date.now();
    await api.close();
    expect(Date.now() - began).toBeLessThan(1_000);
  });

  it('says in one sentence that its port is taken', async () => {
    const { port } = await served(() => new Response('ok'));
    await expect(serveApi({ fetch: () => new Response() }, { host: '127.0.0.1', port })).rejects.toMatchObject({
      code: 'port_taken',
      message: `Port ${port} on 127.0.0.1 is taken by another program.`,
      nextStep: expect.stringContaining('--port'),
    });
  });

  it('answers what is not a request as a problem too', async () => {
    const { port } = await served(() => new Response('ok'));
    const socket = connect(port, '127.0.0.1').end('GET / HTTP/1.1\r\nHost: a b\r\nConnection: close\r\n\r\n');
    let text = '';
    socket.on('data', (chunk) => (text += chunk.toString()));
    await once(socket, 'close');
    expect(text).toMatch(/^HTTP\/1.1 400 /);
    expect(text).toContain('urn:secondwind:problem:bad_http');
  });
});
