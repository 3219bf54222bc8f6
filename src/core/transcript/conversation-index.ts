/**
 * What the store keeps of a conversation under one id: the ids of its messages, in order. The messages are artifacts of their own,
 * so a turn writes only what is new.
 */
export interface ConversationIndex {
  ids: string[];
  /** How many of people's messages the conversation already includes. */
  feedback_told: number;
  /** What the model counted for all messages except the last one, and a hash of what else the request contained. */
  counted?: { tokens: number; head: string };
  /** What the turn sent. It differs from `ids`, because guidance of the moment is sent and not kept. Missing in older indexes. */
  sent?: SentRequest;
}

/** The messages of one request: the system message, the first `shared` messages of the conversation, then `ids`. */
export interface SentRequest {
  system: string | null;
  shared: number;
  ids: string[];
  /** True if the model's answer is the last message of the conversation. A turn that failed has none. */
  answered: boolean;
}

/** Returns the ids of the messages that the turn sent, in order. */
export function sentIds({ ids, sent }: ConversationIndex): string[] {
  // An index without `sent` was written when a turn kept all that it sent, so everything before the answer was sent.
  if (sent === undefined) return ids.slice(0, -1);
  return [...(sent.system === null ? [] : [sent.system]), ...ids.slice(0, sent.shared), ...sent.ids];
}

/** Returns the ids of the conversation as the next turn continues it, with the system message of this turn. */
export const keptIds = ({ ids, sent }: ConversationIndex): string[] =>
  sent === undefined || sent.system === null ? ids : [sent.system, ...ids];

/** Returns the id of the model's answer, or null if there was none that could be used. */
export const answerId = ({ ids, sent }: ConversationIndex): string | null =>
  sent?.answered === false ? null : (ids.at(-1) ?? null);
