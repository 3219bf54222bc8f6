import { hashOfJson } from '../../protocol/ids.ts';
import type { Json } from '../../protocol/json.ts';

/** A conversation with a model, in a form that belongs to no provider. What travels to one is made of it. */
export type Message = SystemMessage | UserMessage | AssistantMessage | ToolMessage;

export interface SystemMessage {
  role: 'system';
  text: string;
}
export interface UserMessage {
  role: 'user';
  text: string;
  /** Written by the run about what failed; the next surgery at the tail replaces it. */
  guidance?: true;
}
export interface AssistantMessage {
  role: 'assistant';
  /** May be empty where there are calls. */
  text: string;
  calls: MessageCall[];
  state?: ProviderState;
}
/** What a provider wants back unchanged with its message, such as signed reasoning. Nobody else reads it. */
export interface ProviderState {
  /** The model that it belongs to; no other gets it. */
  from: string;
  options?: Json;
  /** In the order in which they were said. The text and the calls themselves are the message's. */
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

/** The same message has the same id everywhere: key order never matters. */
export const messageId = (message: Message): string => hashOfJson(message);

export type ResolvedTranscript = { ok: true; messages: Message[] } | { ok: false; missing: string[] };

/** The way back. A message that does not hash to its id is as good as missing: it is not what was said. */
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
