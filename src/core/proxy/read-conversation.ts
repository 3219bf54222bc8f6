import { fieldsOf, isFields, listOf, textOf, type TranscriptEvent } from '../inspect/events.ts';
import { createReadingState, readRecord } from '../inspect/read-record.ts';

/** The APIs whose requests contain the whole conversation. */
export type ModelApi = 'chat' | 'responses' | 'messages';

const PATHS: readonly [RegExp, ModelApi][] = [
  [/\/chat\/completions\/?$/, 'chat'],
  [/\/responses\/?$/, 'responses'],
  [/\/messages\/?$/, 'messages'],
];

/** The API that a path belongs to, or null. */
export const findApi = (path: string): ModelApi | null => PATHS.find(([pattern]) => pattern.test(path))?.[1] ?? null;

/** A call with its result, and where the result stands in the request. */
export interface ConversationCall {
  tool: string;
  input: unknown;
  output: unknown;
  error: boolean | undefined;
  /** A person wrote something since the call before. */
  afterUser: boolean;
  /** Calls that the model made at once have the same number. */
  turn: number;
  /** The path of the result's content in the body. */
  path: readonly (string | number)[];
}

export interface Conversation {
  calls: ConversationCall[];
  /** A person wrote something after the last call, so the model answers the person next. */
  endsWithUser: boolean;
  model: string;
  stream: boolean;
  /** A chat that is streamed asks for its usage at the end. */
  includeUsage: boolean;
}

interface Placed {
  event: TranscriptEvent;
  path: readonly (string | number)[];
}

/** A result of Anthropic's API is a block of a user's message; `readRecord` reads such messages only inside a record. */
const anthropicEvents = (message: unknown, at: number): Placed[] => {
  const { role, content } = fieldsOf(message);
  const blocks = listOf(content);
  const placed = blocks.flatMap((block, index): Placed[] => {
    const { type, id, name, input, tool_use_id, content: said, is_error } = fieldsOf(block);
    const path = ['messages', at, 'content', index, 'content'];
    if (type === 'tool_use' && typeof name === 'string') {
      return [{ event: { type: 'call', id: textOf(id), tool: name, input }, path }];
    }
    if (type !== 'tool_result') return [];
    const error = typeof is_error === 'boolean' ? is_error : undefined;
    return [{ event: { type: 'result', id: textOf(tool_use_id), output: resultText(said), error }, path }];
  });
  // Clients add notes of their own beside results. Only a message without results is from a person.
  const isPerson = role === 'user' && placed.length === 0;
  return isPerson ? [{ event: { type: 'user' }, path: [] }] : placed;
};

const resultText = (content: unknown): string =>
  typeof content === 'string'
    ? content
    : listOf(content)
        .map((part) => textOf(fieldsOf(part)['text']) ?? '')
        .join('\n');

const placeEvents = (api: ModelApi, body: Record<string, unknown>): Placed[] => {
  const list = api === 'responses' ? 'input' : 'messages';
  const items = listOf(body[list]);
  if (api === 'messages') return items.flatMap(anthropicEvents);
  const state = createReadingState();
  return items.flatMap((item, at) => {
    const { read } = readRecord(item, list, state);
    const path = [list, at, api === 'responses' && isFields(item) && 'output' in item ? 'output' : 'content'];
    return read.flatMap(({ events }) => events.map((event) => ({ event, path })));
  });
};

/** Reads the conversation in the body of a request, with the readers that `inspect` has. */
export const readConversation = (api: ModelApi, body: Record<string, unknown>): Conversation => {
  const open: { id: string | null; tool: string; input: unknown; afterUser: boolean; turn: number }[] = [];
  const calls: ConversationCall[] = [];
  let afterUser = false;
  let turn = 0;
  let isAnswered = true;
  for (const { event, path } of placeEvents(api, body)) {
    if (event.type === 'user') afterUser = true;
    if (event.type === 'call') {
      if (isAnswered) turn += 1;
      isAnswered = false;
      open.push({ id: event.id, tool: event.tool, input: event.input, afterUser, turn });
      afterUser = false;
    }
    if (event.type !== 'result') continue;
    isAnswered = true;
    const at = event.id === null ? open.length - 1 : open.findIndex(({ id }) => id === event.id);
    const [call] = at < 0 ? [] : open.splice(at, 1);
    if (call === undefined) continue;
    const { id: _id, ...made } = call;
    calls.push({ ...made, output: event.output, error: event.error, path });
  }
  return {
    calls,
    endsWithUser: afterUser,
    model: textOf(body['model']) ?? 'unknown',
    stream: body['stream'] === true,
    includeUsage: fieldsOf(body['stream_options'])['include_usage'] === true,
  };
};
