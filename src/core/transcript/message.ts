import { hashOfJson } from '../../protocol/ids.ts';
import type { Json } from '../../protocol/json.ts';

/**
 * A conversation with a model, in a format that is independent of providers. Requests to a provider are made from it.
 */
export type Message = SystemMessage | UserMessage | AssistantMessage | ToolMessage;

export interface SystemMessage {
  role: 'system';
  text: string;
}
export interface UserMessage {
  role: 'user';
  text: string;
  /** The run wrote this message about a failure. The next change at the end of the conversation replaces it. */
  guidance?: true;
}
export interface AssistantMessage {
  role: 'assistant';
  /** May be empty if there are calls. */
  text: string;
  calls: MessageCall[];
  state?: ProviderState;
}
/** Data that a provider needs back unchanged with its message, such as signed reasoning. It is not read otherwise. */
export interface ProviderState {
  /** The model that it belongs to. It is not sent to other models. */
  from: string;
  options?: Json;
  /** In the order in which the model produced them. The text and the calls themselves are in the message. */
  parts: StatePart[];
}
export type StatePart =
  | { type: 'reasoning'; text: string; options?: Json }
  | { type: 'text'; options?: Json }
  | { type: 'call'; call_id: string; options?: Json };
export interface MessageCall {
  call_id: string;
  tool: string;
  input: { [key: string]: Json };
}
export interface ToolMessage {
  role: 'tool';
  call_id: string;
  tool: string;
  output: Json;
  failed?: true;
}

/** The same message has the same id everywhere, whatever the order of its keys. */
export const messageId = (message: Message): string => hashOfJson(message);

export type ResolvedTranscript = { ok: true; messages: Message[] } | { ok: false; missing: string[] };

/** Loads the messages of a transcript. A message whose hash differs from its id counts as missing. */
export function resolveTranscript(
  ids: readonly string[],
  find: (id: string) => Message | undefined,
): ResolvedTranscript {
  const known = new Map([...new Set(ids)].map((id) => [id, find(id)]));
  const isGone = (id: string): boolean => {
    const message = known.get(id);
    return message === undefined || messageId(message) !== id;
  };
  const missing = [...known.keys()].filter(isGone);
  if (missing.length > 0) return { ok: false, missing };
  return { ok: true, messages: ids.flatMap((id) => known.get(id) ?? []) };
}
