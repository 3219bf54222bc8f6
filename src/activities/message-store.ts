import type { MessageStore } from '../model/transcript-store.ts';
import type { Json } from '../protocol/json.ts';
import type { ActivityStore } from './store-port.ts';
import { outputInHistory } from './unsaved-in-history.ts';
import type { WaitForStore } from './wait-for-store.ts';

const JSON_TYPE = 'application/json';
/** A long conversation is read at every turn. The worker caches what it has just read or written, up to this size. */
const CACHED_CHARS = 32 * 1024 * 1024;

/**
 * Stores messages as artifacts, by their hash, and caches the latest ones. The cache is never stale, because content
 * under a hash never changes.
 */
export function createMessageStore(artifacts: ActivityStore['artifacts']): MessageStore {
  const cache = new Map<string, { value: Json; chars: number }>();
  let held = 0;
  const keep = (id: string, text: string): Json => {
    const value = JSON.parse(text) as Json;
    held -= cache.get(id)?.chars ?? 0;
    cache.delete(id);
    cache.set(id, { value, chars: text.length });
    held += text.length;
    for (const [oldest, { chars }] of cache) {
      if (held <= CACHED_CHARS) break;
      cache.delete(oldest);
      held -= chars;
    }
    return value;
  };
  return {
    getMany: async (ids) => {
      const found = new Map<string, Json>();
      const missing: string[] = [];
      for (const id of ids) {
        const cached = cache.get(id);
        if (cached === undefined) missing.push(id);
        else found.set(id, cached.value);
      }
      for (const { id, bytes } of await artifacts.getMany(missing)) {
        found.set(id, keep(id, new TextDecoder().decode(bytes)));
      }
      return found;
    },
    putMany: async (texts) => {
      const encoder = new TextEncoder();
      await artifacts.putMany(
        texts.map(({ id, text }) => ({ id, bytes: encoder.encode(text), media_type: JSON_TYPE })),
      );
      for (const { id, text } of texts) keep(id, text);
    },
  };
}

/** The same store for one turn: it waits while the store is unavailable, and finds outputs that only the history has. */
export const patientMessages = (messages: MessageStore, wait: WaitForStore): MessageStore => ({
  getMany: async (ids) => {
    const found = new Map(await wait('read the conversation', () => messages.getMany(ids)));
    for (const id of ids) {
      const text = found.has(id) ? null : await outputInHistory(id);
      if (text !== null) found.set(id, JSON.parse(text) as Json);
    }
    return found;
  },
  putMany: (texts) => wait('save the conversation', () => messages.putMany(texts)),
});
