import { describe, expect, it } from 'vitest';
import { readEvents, type SentEvent } from '../../../src/client/http/read-events.ts';

/** The text cut into pieces of a few bytes, as a network would. */
async function* pieces(text: string, size: number): AsyncGenerator<Uint8Array> {
  const bytes = new TextEncoder().encode(text);
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}
async function read(text: string, size = 3): Promise<SentEvent[]> {
  const events: SentEvent[] = [];
  for await (const event of readEvents(pieces(text, size))) events.push(event);
  return events;
}

describe('a stream of server-sent events', () => {
  it.each([1, 2, 3, 7, 1000])(
    'an event stream is parsed equally in pieces of %i bytes, with any line ending',
    async (size) => {
      const lines = [
        'retry: 2000',
        '',
        ': beat',
        '',
        'id: 1',
        'event: waiting',
        'data: {"text":"für 雨"}',
        '',
        'data',
        '',
      ];
      for (const end of ['\n', '\r\n', '\r']) {
        expect(await read(`${lines.join(end)}${end}`, size)).toEqual([
          { id: '1', event: 'waiting', data: '{"text":"für 雨"}' },
          { id: '', event: 'message', data: '' },
        ]);
      }
    },
  );

  it('an event stream drops an incomplete message, and joins lines of data', async () => {
    expect(await read('data: a\ndata: b\n\nid: 2\ndata: never')).toEqual([{ id: '', event: 'message', data: 'a\nb' }]);
  });
});
