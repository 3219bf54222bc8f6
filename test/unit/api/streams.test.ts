/** Streams of events without a server: how many there may be, and when they end. */
import { Hono } from 'hono';
import { describe, expect, it } from 'vitest';
import type { ApiEnv } from '../../../src/api/api-context.ts';
import { Problem } from '../../../src/api/problem.ts';
import { eventStream, type StreamMessage } from '../../../src/api/watch/event-stream.ts';
import { createStreamLimit } from '../../../src/api/watch/stream-limit.ts';

const silent = (signal: AbortSignal): AsyncIterable<StreamMessage> =>
  sourceOf(() => new Promise((resolve) => signal.addEventListener('abort', () => resolve(END))));
/** Busy, and deaf to its signal. */
const deaf = (): AsyncIterable<StreamMessage> => sourceOf(() => new Promise(() => undefined));

const END = { done: true, value: undefined } as const;
const sourceOf = (next: () => Promise<IteratorResult<StreamMessage>>): AsyncIterable<StreamMessage> => ({
  [Symbol.asyncIterator]: () => ({ next }),
});

function appWith(open: (signal: AbortSignal) => AsyncIterable<StreamMessage>, perToken: number, total: number) {
  const streams = createStreamLimit({ perToken, total });
  const app = new Hono<ApiEnv>();
  app.get('/:token', (c) => {
    c.set('streams', streams);
    c.set('grant', { role: 'viewer', token: c.req.param('token') });
    const seconds = Number(c.req.query('seconds')) || undefined;
    return eventStream(c, open, { seconds, onError: () => undefined });
  });
  app.onError((error) => (error instanceof Problem ? error.toResponse() : new Response('bug', { status: 500 })));
  return app;
}

describe('streams that nobody reads', () => {
  it('are bounded for each token and in all, and one that ends makes room', async () => {
    const app = appWith(silent, 2, 3);
    const first = await app.request('/ann');
    expect((await app.request('/ann')).status).toBe(200);
    const refused = await app.request('/ann');
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '10']);
    expect(await refused.json()).toMatchObject({ detail: 'A token may have 2 streams open. Close one first.' });
    expect((await app.request('/bob')).status).toBe(200);
    expect((await app.request('/eve')).status).toBe(429);
    await first.body?.cancel();
    expect((await app.request('/eve')).status).toBe(200);
  });

  it('make room when their reader hangs up, also when it never began to read', async () => {
    const app = appWith(silent, 1, 1);
    const hangUp = new AbortController();
    expect((await app.request('/ann', { signal: hangUp.signal })).status).toBe(200);
    expect((await app.request('/ann')).status).toBe(429);
    hangUp.abort();
    expect((await app.request('/ann')).status).toBe(200);
  });
});

describe('a stream that may last so many seconds', () => {
  it('ends then, also while its source is busy', async () => {
    const app = appWith(deaf, 1, 1);
    expect(await (await app.request('/ann?seconds=1')).text()).toBe('retry: 2000\n\n');
    expect((await app.request('/ann')).status).toBe(200);
  });
});
