/** The door on a real port. Needs nothing of the stack: what is behind the door is not asked. */
import { once } from 'node:events';
import { connect } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import { type ServedApi, serveApi } from '../../src/api/serve.ts';
import type { ServeOptions } from '../../src/api/serve.ts';

async function served(
  fetch: (request: Request) => Response | Promise<Response>,
  options: Partial<ServeOptions> = {},
): Promise<ServedApi> {
  const api = await serveApi({ fetch }, { host: '127.0.0.1', port: 0, ...options });
  onTestFinished(() => api.close());
  return api;
}
/** As long as the door waits for requests that are in; what is only kept open is not waited for. */
const DRAIN_MS = 5_000;

function withResolvers(): { promise: Promise<void>; resolve: () => void } {
  let resolve = (): void => {};
  const promise = new Promise<void>((settle) => (resolve = settle));
  return { promise, resolve };
}

describe('a served API', () => {
  it('while the server closes, open requests finish and new ones are refused', async () => {
    const { promise: isIn, resolve: cameIn } = withResolvers();
    const { promise: mayAnswer, resolve: answer } = withResolvers();
    const api = await served(async () => {
      cameIn();
      await mayAnswer;
      return new Response('done');
    });
    const slow = fetch(api.url).then((got) => got.text());
    await isIn;
    const closed = api.close();
    await expect(fetch(api.url)).rejects.toThrow('fetch failed');
    answer();
    expect(await slow).toBe('done');
    await closed;
  });

  it('the server closes at once if its connections are idle', async () => {
    const api = await served(() => new Response('ok'));
    await (await fetch(api.url)).text();
    const began = Date.now();
    await api.close();
    expect(Date.now() - began).toBeLessThan(DRAIN_MS);
  });

  it('the server ends streams when it closes, because they do not end by themselves', async () => {
    const headers = { 'content-type': 'text/event-stream' };
    const stream = () => new ReadableStream({ start: (controller) => controller.enqueue(new Uint8Array([58, 10])) });
    const api = await served(() => new Response(stream(), { headers }));
    const reading = (await fetch(api.url)).text();
    const began = Date.now();
    await Promise.all([api.close(), expect(reading).rejects.toThrow('terminated')]);
    expect(Date.now() - began).toBeLessThan(DRAIN_MS);
  });

  it.each([
    ['its head', 'GET / HTTP/1.1\r\nHost: localhost\r\n'],
    ['its body', 'POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\n{'],
  ])('the server refuses a request that takes too long with %s', async (_what, sent) => {
    const api = await served(async (request) => new Response(await request.text()), { headMs: 300, requestMs: 600 });
    const socket = connect(api.port, '127.0.0.1');
    socket.write(sent);
    let text = '';
    socket.on('data', (chunk) => (text += chunk.toString()));
    await once(socket, 'close');
    expect(text).toMatch(/^HTTP\/1.1 408 /);
    expect(text).toContain('urn:secondwind:problem:slow_request');
  });

  it.each([
    ['before its head is complete', 'GET / HTTP/1.1\r\nHost: local'],
    ['in the middle of its body', 'POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\n{'],
  ])('the server destroys a connection whose peer stops sending %s and never closes', async (_what, sent) => {
    const api = await served(async (request) => new Response(await request.text()), { headMs: 300, requestMs: 600 });
    const socket = connect({ port: api.port, host: '127.0.0.1', allowHalfOpen: true });
    onTestFinished(() => void socket.destroy());
    socket.resume();
    socket.write(sent);
    socket.end();
    // The peer keeps its half open, and still is told that the other half is gone.
    await once(socket, 'end');
    await expect.poll(() => api.connections()).toBe(0);
  });

  it('the server destroys the connection of a stream whose reader has stopped reading', async () => {
    const headers = { 'content-type': 'text/event-stream' };
    const chunk = new Uint8Array(256 * 1024);
    const stream = () => new ReadableStream({ pull: (controller) => controller.enqueue(chunk) });
    const api = await served(() => new Response(stream(), { headers }), { streamStallMs: 500 });
    const socket = connect(api.port, '127.0.0.1');
    onTestFinished(() => void socket.destroy());
    socket.pause();
    socket.write('GET / HTTP/1.1\r\nHost: localhost\r\n\r\n');
    await expect.poll(() => api.connections()).toBe(1);
    await expect.poll(() => api.connections()).toBe(0);
  });

  it('the server refuses headers that are too large', async () => {
    const { url } = await served(() => new Response('ok'));
    expect((await fetch(url, { headers: { 'x-large': 'x'.repeat(70_000) } })).status).toBe(431);
  });

  it('the server says in one sentence that its port is taken', async () => {
    const { port } = await served(() => new Response('ok'));
    await expect(serveApi({ fetch: () => new Response() }, { host: '127.0.0.1', port })).rejects.toMatchObject({
      code: 'port_taken',
      message: `Port ${port} on 127.0.0.1 is taken by another program.`,
      nextStep: expect.stringContaining('--port'),
    });
  });

  it('the server answers malformed HTTP with a problem too', async () => {
    const { port } = await served(() => new Response('ok'));
    const socket = connect(port, '127.0.0.1').end('GET / HTTP/1.1\r\nHost: a b\r\nConnection: close\r\n\r\n');
    let text = '';
    socket.on('data', (chunk) => (text += chunk.toString()));
    await once(socket, 'close');
    expect(text).toMatch(/^HTTP\/1.1 400 /);
    expect(text).toContain('urn:secondwind:problem:bad_http');
  });
});
