import type { ConversationIndex, SentRequest } from '../core/transcript/conversation-index.ts';
import { type Message, messageId, resolveTranscript } from '../core/transcript/message.ts';
import { canonicalJson, hashOfJson } from '../protocol/ids.ts';
import { defined, type Json } from '../protocol/json.ts';

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
/** What a turn sent to the model, so that people can read it later. */
export interface SentTurn {
  instructions: string;
  messages: readonly Message[];
}

const EMPTY: Conversation = { messages: [], feedback_told: 0 };

export class TranscriptLostError extends Error {
  override readonly name = 'TranscriptLostError';
}

export async function loadConversation(store: MessageStore, id: string | null): Promise<Conversation> {
  if (id === null) return EMPTY;
  const index = (await store.getMany([id])).get(id) as unknown as ConversationIndex | undefined;
  if (index === undefined) throw new TranscriptLostError(`the conversation ${id} is not in the store`);
  const found = await store.getMany([...new Set(index.ids)]);
  const resolved = resolveTranscript(index.ids, (one) => found.get(one) as unknown as Message | undefined);
  if (!resolved.ok) throw new TranscriptLostError(`${resolved.missing.length} messages are not in the store`);
  const { feedback_told, counted } = index;
  return { messages: resolved.messages, feedback_told, ...defined({ counted }) };
}

/**
 * Writes a conversation and returns its id. Only new messages are written, because the store already has those of `known`. `sent` is
 * what the turn sent; `answered` says that the last message of the conversation is the model's answer.
 */
export async function saveConversation(
  store: MessageStore,
  { messages, feedback_told, counted }: Conversation,
  known: readonly Message[],
  { sent, answered }: { sent: SentTurn; answered: boolean },
): Promise<string> {
  const written = new Set(known.map(messageId));
  const ids = messages.map(messageId);
  const request = describeSent(messages, ids, sent);
  const index = {
    ids,
    feedback_told,
    ...defined({ counted }),
    sent: { ...request.sent, answered },
  } satisfies ConversationIndex;
  const id = hashOfJson(index);
  const fresh = messages.flatMap((message, at) => {
    const own = ids[at] ?? '';
    return written.has(own) ? [] : [{ id: own, text: canonicalJson(message) }];
  });
  await store.putMany([...fresh, ...request.fresh, { id, text: canonicalJson(index) }]);
  return id;
}

/** Most of a request is the beginning of the conversation, so only the rest is listed. */
function describeSent(
  kept: readonly Message[],
  ids: readonly string[],
  { instructions, messages }: SentTurn,
): { sent: Omit<SentRequest, 'answered'>; fresh: { id: string; text: string }[] } {
  // A message that was not changed is the same object, so most of a long conversation is not hashed again.
  const end = messages.findIndex((message, at) => message !== kept[at] && messageId(message) !== ids[at]);
  const shared = end === -1 ? messages.length : end;
  const rest = messages.slice(shared).map(toArtifact);
  const system = instructions.trim() === '' ? null : toArtifact({ role: 'system', text: instructions });
  return {
    sent: { system: system?.id ?? null, shared, ids: rest.map(({ id }) => id) },
    fresh: [...(system === null ? [] : [system]), ...rest],
  };
}

const toArtifact = (message: Message): { id: string; text: string } => ({
  id: messageId(message),
  text: canonicalJson(message),
});
