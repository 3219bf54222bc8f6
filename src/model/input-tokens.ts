import { type Message, messageId } from '../core/transcript/message.ts';
import { hashOfJson } from '../protocol/ids.ts';
import type { ModelRequest } from './request.ts';

/** What the model said it counted for an earlier question of the same conversation. */
export interface CountedInput {
  tokens: number;
  /** A hash of the model, the instructions, the tools and the output schema of that request. */
  head: string;
  /** The ids of the messages of that request. */
  messages: readonly string[];
}

type Question = Pick<ModelRequest, 'instructions' | 'messages' | 'tools' | 'output_schema'>;

/** Providers add their own prompt when tools are declared, of some hundred tokens (Anthropic documents up to 530). */
const HIDDEN_TOKENS = 600;

/**
 * Returns the most tokens that a request can have. Tokenizers never make two tokens of one byte, so the number of bytes is an upper
 * limit. For messages that the model has counted before, its own count is used. Ordinary text has about a quarter of that, but a
 * budget must hold for every text.
 */
export function mostInputTokens(question: Question, model: string, counted: CountedInput | null): number {
  const hidden = question.tools.length === 0 ? 0 : HIDDEN_TOKENS;
  const worst = bytesOf(headOf(question)) + hidden + sum(question.messages.map(bytesOf));
  // Another model or another prompt has another count.
  if (counted === null || counted.head !== hashHead(question, model)) return worst;
  const fresh = withoutKnown(question.messages, counted.messages);
  return Math.min(worst, counted.tokens + sum(fresh.map(bytesOf)));
}

/** A message that appears twice and was counted once is new the second time. */
function withoutKnown(messages: readonly Message[], known: readonly string[]): Message[] {
  const left = new Map<string, number>();
  for (const id of known) left.set(id, (left.get(id) ?? 0) + 1);
  return messages.filter((message) => {
    const id = messageId(message);
    const times = left.get(id) ?? 0;
    left.set(id, times - 1);
    return times <= 0;
  });
}

export const hashHead = (question: Question, model: string): string => hashOfJson([model, ...headOf(question)]);

const headOf = ({ instructions, tools, output_schema = null }: Question) => [instructions, tools, output_schema];

/** The size as JSON, which is larger than the framing that providers add to a message. */
export const bytesOf = (value: unknown): number => new TextEncoder().encode(JSON.stringify(value)).length;

const sum = (counts: number[]): number => counts.reduce((total, count) => total + count, 0);

export const countedBefore = (
  counted: { tokens: number; head: string } | undefined,
  messages: readonly Message[],
): CountedInput | null =>
  // The last message is the answer to that request, so it was not part of it.
  counted === undefined ? null : { ...counted, messages: messages.slice(0, -1).map(messageId) };
