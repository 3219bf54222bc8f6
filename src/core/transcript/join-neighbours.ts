import type { Message } from './message.ts';

const GAP = '\n\n';

/**
 * Joins two user messages in a row, and two assistant messages of which the first calls nothing, because some providers
 * require alternating turns. The transcript keeps them separate, so that each can be replaced alone.
 */
export function joinNeighbours(messages: readonly Message[]): Message[] {
  const joined: Message[] = [];
  for (const message of messages) {
    const before = joined.at(-1);
    const both = before === undefined ? null : joinPair(before, message);
    if (both === null) joined.push(message);
    else joined[joined.length - 1] = both;
  }
  return joined;
}

function joinPair(before: Message, message: Message): Message | null {
  if (before.role === 'user' && message.role === 'user') {
    return { role: 'user', text: before.text + GAP + message.text };
  }
  if (before.role === 'assistant' && message.role === 'assistant' && before.calls.length === 0) {
    const text = [before.text, message.text].filter((part) => part !== '').join(GAP);
    return { ...message, text };
  }
  return null;
}
