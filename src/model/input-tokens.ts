import { type Message, messageId } from '../core/transcript/message.ts';
import { hashOfJson } from '../protocol/ids.ts';
import type { ModelRequest } from './request.ts';

/** What the model said it counted for an earlier question of the same conversation. */
export interface CountedInput {
  tokens: number;
  /** Of the model, and of the instructions, tools and output schema that it was asked with. */
  head: string;
  /** Ids of the messages that it was asked with. */
  messages: readonly string[];
}

type Question = Pick<ModelRequest, 'instructions' | 'messages' | 'tools' | 'output_schema'>;

/** Providers add words of their own where tools are declared: some hundred tokens (Anthropic documents up to 530). */
const HIDDEN_TOKENS = 600;

/**
 * The most tokens that a question can be counted as. Tokenizers work on bytes and none makes two tokens of one, so a byte
 * is a token until the model has told better: what it has counted before is taken at its word, and only what is new is
 * taken at its worst. Text is four times less, but a budget that is only usually kept is none.
 */
export function mostInputTokens(question: Question, model: string, counted: CountedInput | null): number {
  const hidden = question.tools.length === 0 ? 0 : HIDDEN_TOKENS;
  const worst = bytesOf(headOf(question)) + hidden + sum(question.messages.map(bytesOf));
  // Another model counts otherwise.
  if (counted === null || counted.head !== hashOfHead(question, model)) return worst;
  const fresh = withoutKnown(question.messages, counted.messages);
  return Math.min(worst, counted.tokens + sum(fresh.map(bytesOf)));
}

/** A message that is said twice and was counted once is new the second time. */
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

export const hashOfHead = (question: Question, model: string): string => hashOfJson([model, ...headOf(question)]);

const headOf = ({ instructions, tools, output_schema = null }: Question) => [instructions, tools, output_schema];

/** As JSON: quotes and names of members are more than what providers put around a message. */
export const bytesOf = (value: unknown): number => new TextEncoder().encode(JSON.stringify(value)).length;

const sum = (counts: number[]): number => counts.reduce((total, count) => total + count, 0);

export const countedBefore = (
  counted: { tokens: number; head: string } | undefined,
  messages: readonly Message[],
): CountedInput | null =>
  // The last message is the answer to that question, so it was not in it.
  counted === undefined ? null : { ...counted, messages: messages.slice(0, -1).map(messageId) };
