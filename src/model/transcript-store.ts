import { type Message, messageId, resolveTranscript } from '../core/transcript/message.ts';
import { canonicalJson, hashOfJson } from '../protocol/ids.ts';
import type { Json } from '../protocol/json.ts';

/** Stores messages by their hash, so writing the same message twice has no effect. */
export interface MessageStore {
  getMany(ids: readonly string[]): Promise<ReadonlyMap<string, Json>>;
  putMany(artifacts: readonly { id: string; text: string }[]): Promise<void>;
}

/** A conversation. The workflow knows only its id, which refers to the ids of its messages in order. */
export interface Conversation {
  messages: Message[];
  feedback_told: number;
  /** The model's token count for all messages but the last, and a hash of the rest of that request. */
  counted?: { tokens: number; head: string };
}
interface Index {
  ids: string[];
  feedback_told: number;
  counted?: { tokens: number; head: string };
}

const EMPTY: Conversation = { messages: [], feedback_told: 0 };

export class TranscriptLostError extends Error {
  override readonly name = 'TranscriptLostError';
}

export async function loadConversation(store: MessageStore, id: string | null): Promise<Conversation> {
  if (id === null) return EMPTY;
  const index = (await store.getMany([id])).get(id) as unknown as Index | undefined;
  if (index === undefined) throw new TranscriptLostError(`the conversation ${id} is not in the store`);
  const found = await store.getMany([...new Set(index.ids)]);
  const resolved = resolveTranscript(index.ids, (one) => found.get(one) as unknown as Message | undefined);
  if (!resolved.ok) throw new TranscriptLostError(`${resolved.missing.length} messages are not in the store`);
  const { feedback_told, counted } = index;
  return { messages: resolved.messages, feedback_told, ...(counted === undefined ? {} : { counted }) };
}

/** Writes only new messages; those in `known` are stored already. */
export async function saveConversation(
  store: MessageStore,
  { messages, feedback_told, counted }: Conversation,
  known: readonly Message[],
): Promise<string> {
  const written = new Set(known.map(messageId));
  const ids = messages.map(messageId);
  const index = { ids, feedback_told, ...(counted === undefined ? {} : { counted }) } satisfies Index;
  const id = hashOfJson(index);
  const fresh = messages.flatMap((message, at) => {
    const own = ids[at] ?? '';
    return written.has(own) ? [] : [{ id: own, text: canonicalJson(message) }];
  });
  await store.putMany([...fresh, { id, text: canonicalJson(index) }]);
  return id;
}
