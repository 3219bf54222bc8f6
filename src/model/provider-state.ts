import { redactJson, type Redact } from '../core/redaction/redact.ts';
import type { AssistantMessage, ProviderState } from '../core/transcript/message.ts';
import { defined, type Json } from '../protocol/json.ts';
import { isEndpoint, type ModelSource } from '../define/model-source.ts';
import { wellFormed } from './turn-messages.ts';

/**
 * The reasoning of a model and its signatures, which must be sent back with the next request: some models refuse to continue without
 * them, and others answer worse. The state is opaque here and is only sent back to the model that it came from.
 */

/** The state as the model sent it. Calls are identified by their position, because their ids are not final yet. */
export interface SaidState {
  options?: Json;
  parts: SaidPart[];
}
export type SaidPart =
  | { type: 'reasoning'; text: string; options?: Json }
  | { type: 'text'; options?: Json }
  | { type: 'call'; index: number; options?: Json };

/** A larger state is not stored, and the model continues without it. */
const STATE_BYTES = 256 * 1024;

export const stateSource = (source: ModelSource): string =>
  isEndpoint(source) ? `openai-compatible ${source.model}` : `${source.provider} ${source.modelId}`;

/** Returns the state to store, or null if there is none. */
export function toProviderState(said: SaidState, from: string, callIds: readonly string[]): ProviderState | null {
  const isPlain = said.parts.every((part) => part.type !== 'reasoning' && part.options === undefined);
  if (said.options === undefined && isPlain) return null;
  const parts = said.parts.flatMap((part): ProviderState['parts'] => {
    if (part.type !== 'call') return [part];
    const { index, ...rest } = part;
    const call_id = callIds[index];
    return call_id === undefined ? [] : [{ ...rest, call_id }];
  });
  const state = { from, ...defined({ options: said.options }), parts };
  return new TextEncoder().encode(JSON.stringify(state)).length > STATE_BYTES ? null : state;
}

/**
 * Masks reasoning without a signature like any text. A changed state would no longer match its signature, so a signed state with a
 * known secret is left out as a whole.
 */
export function cleanState(state: ProviderState, mask: Redact): ProviderState | null {
  const before = state as unknown as Json;
  const clean = redactJson(before, mask);
  const isWhole = JSON.stringify(wellFormed(before)) === JSON.stringify(before);
  if (clean === before && isWhole) return state;
  return isSigned(state) || !isWhole ? null : (clean as unknown as ProviderState);
}

const isSigned = ({ options, parts }: ProviderState): boolean =>
  parts.some((part) => part.options !== undefined) || fieldNames(options).some((name) => !PLAIN_FIELDS.includes(name));

const fieldNames = (options: Json | undefined): string[] =>
  Object.keys((options as Fielded | undefined)?.[FIELDS] ?? {});

type Bag = Record<string, Json>;
type Fielded = { [FIELDS]?: Bag };
/** The key under which the OpenAI-compatible package passes on unknown fields of a message. */
const FIELDS = 'openaiCompatible';
const PLAIN_FIELDS = ['reasoning_content', 'reasoning'];
const MESSAGE_FIELDS = [...PLAIN_FIELDS, 'reasoning_details', 'extra_content'];
const CALL_FIELDS = ['extra_content'];

/** Reads the state from the raw answer of an endpoint, because the AI SDK keeps only a part of it. */
export function stateInBody(body: unknown): SaidState {
  const message = (body as { choices?: { message?: Bag }[] } | undefined)?.choices?.[0]?.message ?? {};
  const calls = (message['tool_calls'] ?? []) as unknown as Bag[];
  const options = picked(message, MESSAGE_FIELDS);
  return {
    ...defined({ options }),
    parts: calls.map((call, index) => {
      const own = picked(call, CALL_FIELDS);
      return { type: 'call', index, ...defined({ options: own }) };
    }),
  };
}

function picked(bag: Bag, names: string[]): Json | undefined {
  const found = names.filter((name) => bag[name] !== undefined && bag[name] !== null && bag[name] !== '');
  if (found.length === 0) return undefined;
  return { [FIELDS]: Object.fromEntries(found.map((name) => [name, bag[name] as Json])) };
}

/** Reads the state from the parts of an answer that the AI SDK keeps. */
export function stateInParts(content: readonly SdkPart[]): SaidState {
  let calls = 0;
  return {
    parts: content.flatMap(({ type, text, providerOptions }): SaidPart[] => {
      const own = providerOptions === undefined ? {} : { options: providerOptions as Json };
      if (type === 'reasoning') return [{ type, text: text ?? '', ...own }];
      if (type === 'text') return [{ type, ...own }];
      return type === 'tool-call' ? [{ type: 'call', index: calls++, ...own }] : [];
    }),
  };
}
interface SdkPart {
  type: string;
  text?: string;
  providerOptions?: unknown;
}

/** The parts of a message in their original order. Without a state: its text and its calls. */
export function orderedParts(message: AssistantMessage, to: string): ProviderState['parts'] {
  const kept = message.state?.from === to ? message.state.parts : [];
  const firstText = kept.findIndex(({ type }) => type === 'text');
  const known = kept.filter((part, index) => part.type !== 'text' || index === firstText);
  const told = new Set(known.flatMap((part) => (part.type === 'call' ? [part.call_id] : [])));
  const reasoning = known.filter(({ type }) => type === 'reasoning');
  const rest = message.calls.filter(({ call_id }) => !told.has(call_id)).map(({ call_id }) => ({ call_id }));
  const withText = firstText >= 0 ? known : [...reasoning, TEXT, ...known.filter((part) => part.type !== 'reasoning')];
  return [...withText, ...rest.map((call) => ({ type: 'call' as const, ...call }))];
}
const TEXT = { type: 'text' } as const;
