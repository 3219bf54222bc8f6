/** Readers for messages of model APIs and frameworks, for spans, and for exports of this project. */
import {
  contentText,
  fieldsOf,
  type Fields,
  isFields,
  listOf,
  parseArguments,
  type RecordReader,
  textOf,
  tokensEvent,
  type TranscriptEvent,
} from './events.ts';
import { responseItem } from './read-coding-agents.ts';

const ROLES = ['system', 'developer', 'user', 'assistant', 'tool', 'function'];

/** A call that is written as text: `Action:` and a JSON object with name and arguments, as ReAct agents do. */
const ACTION_TEXT = /(?:^|\n)Action:\s{0,20}(?:```\w{0,10}\s{0,20})?(\{[\s\S]{0,200000}\})\s{0,20}(?:```)?\s{0,20}$/;
const ACTION_RESULT = /^(?:API output|Observation):\s?/;

const actionInText = (text: string): TranscriptEvent[] => {
  const parsed = fieldsOf(parseArguments(ACTION_TEXT.exec(text)?.[1] ?? null));
  const name = textOf(parsed['name']);
  // `respond` is the reply to a person, not a call.
  if (name === null || name === 'respond') return [];
  return [{ type: 'call', id: null, tool: name, input: parsed['arguments'] ?? null }];
};

/** OpenAI chat messages, with calls in `tool_calls` or in the older `function_call`. */
export const readOpenAiChat: RecordReader = (record) => {
  const { role, content, tool_calls, function_call, tool_call_id } = record;
  if (typeof role !== 'string' || !ROLES.includes(role)) return null;
  if (content === undefined && tool_calls === undefined && function_call === undefined) return null;
  const format = 'openai-chat';
  if (role === 'tool' || role === 'function') {
    return { format, events: [{ type: 'result', id: textOf(tool_call_id), output: contentText(content ?? '') }] };
  }
  const text = contentText(content ?? '');
  if (role === 'user') {
    return ACTION_RESULT.test(text)
      ? { format, events: [{ type: 'result', id: null, output: text.replace(ACTION_RESULT, '') }] }
      : { format, events: [{ type: 'user' }] };
  }
  if (role !== 'assistant') return { format, events: [] };
  const calls = listOf(tool_calls).flatMap((call): TranscriptEvent[] => {
    const { id, function: called, custom } = fieldsOf(call);
    const { name, arguments: input, input: text } = fieldsOf(called ?? custom);
    return typeof name === 'string'
      ? [{ type: 'call', id: textOf(id), tool: name, input: parseArguments(input ?? text) }]
      : [];
  });
  const older = fieldsOf(function_call);
  const single: TranscriptEvent[] =
    calls.length === 0 && typeof older['name'] === 'string'
      ? [{ type: 'call', id: null, tool: older['name'], input: parseArguments(older['arguments']) }]
      : [];
  const written = calls.length + single.length === 0 ? actionInText(text) : [];
  return { format, events: [...tokensEvent(record['usage'], record['id']), ...calls, ...single, ...written] };
};

const RESPONSE_TYPES =
  /^(?:function_call|function_call_output|custom_tool_call|custom_tool_call_output|local_shell_call|local_shell_call_output|reasoning|web_search_call)$/;

/** Items of OpenAI's Responses API. */
export const readOpenAiResponses: RecordReader = (record) => {
  const { type } = record;
  if (typeof type !== 'string') return null;
  if (type === 'message' && textOf(record['role']) !== null)
    return { format: 'openai-responses', events: responseItem(record) };
  return RESPONSE_TYPES.test(type) ? { format: 'openai-responses', events: responseItem(record) } : null;
};

const sdkResult = (part: Fields): TranscriptEvent => {
  const { toolCallId, output, result, isError } = part;
  const value = isFields(output) && 'value' in output ? output['value'] : (output ?? result ?? null);
  const isFailed =
    isError === true || part['type'] === 'tool-error' || (textOf(fieldsOf(output)['type']) ?? '').startsWith('error');
  return { type: 'result', id: textOf(toolCallId), output: part['error'] ?? value, error: isFailed };
};

const sdkPart = (part: unknown): TranscriptEvent[] => {
  const fields = fieldsOf(part);
  const { type, toolCallId, toolName, input, args } = fields;
  if (type === 'tool-call' && typeof toolName === 'string') {
    return [{ type: 'call', id: textOf(toolCallId), tool: toolName, input: input ?? args ?? null }];
  }
  return type === 'tool-result' || type === 'tool-error' ? [sdkResult(fields)] : [];
};

/** The AI SDK: steps with `toolCalls` and `toolResults`, and messages whose parts are `tool-call` and `tool-result`. */
export const readAiSdk: RecordReader = (record) => {
  const { role, content, toolCalls, toolResults } = record;
  if (Array.isArray(toolCalls)) {
    const asPart = (type: string) => (part: unknown) => sdkPart({ type, ...fieldsOf(part) });
    const parts = listOf(content).flatMap(sdkPart);
    const events =
      parts.length > 0
        ? parts
        : [...toolCalls.flatMap(asPart('tool-call')), ...listOf(toolResults).flatMap(asPart('tool-result'))];
    return { format: 'ai-sdk', events: [...tokensEvent(record['usage'], null), ...events] };
  }
  if (typeof role !== 'string' || !Array.isArray(content)) return null;
  const events = content.flatMap(sdkPart);
  return events.length > 0 ? { format: 'ai-sdk', events } : null;
};

const LANGCHAIN_TYPES: Record<string, string> = {
  human: 'human',
  HumanMessage: 'human',
  HumanMessageChunk: 'human',
  ai: 'ai',
  AIMessage: 'ai',
  AIMessageChunk: 'ai',
  tool: 'tool',
  ToolMessage: 'tool',
  ToolMessageChunk: 'tool',
  system: 'system',
  SystemMessage: 'system',
};

/** LangChain and LangGraph messages: as plain objects, or serialized with `lc` and `kwargs`. */
export const readLangChain: RecordReader = (record) => {
  const isSerialized = record['lc'] !== undefined && isFields(record['kwargs']);
  const message = isSerialized ? fieldsOf(record['kwargs']) : fieldsOf(record['data'] ?? record);
  const name = isSerialized ? listOf(record['id']).at(-1) : record['type'];
  const type = typeof name === 'string' && Object.hasOwn(LANGCHAIN_TYPES, name) ? LANGCHAIN_TYPES[name] : undefined;
  if (type === undefined || (message['content'] === undefined && message['tool_calls'] === undefined)) return null;
  const format = 'langchain';
  if (type === 'human') return { format, events: [{ type: 'user' }] };
  if (type === 'tool') {
    const error = typeof message['status'] === 'string' ? message['status'] === 'error' : undefined;
    const output = contentText(message['content'] ?? '');
    return { format, events: [{ type: 'result', id: textOf(message['tool_call_id']), output, error }] };
  }
  const calls = listOf(message['tool_calls']).flatMap((call): TranscriptEvent[] => {
    const { name: tool, args, id } = fieldsOf(call);
    return typeof tool === 'string' ? [{ type: 'call', id: textOf(id), tool, input: args ?? null }] : [];
  });
  return { format, events: [...tokensEvent(message['usage_metadata'], message['id']), ...calls] };
};

const ORDER = /^Orchestrator \(-> (\w+)\)$/;

/** Magentic-One: an order of the orchestrator is the input of an agent; the message of the agent is the answer. */
export const readMagenticOne: RecordReader = ({ role, content }, list) => {
  if (typeof role !== 'string' || list !== 'history' || ROLES.includes(role)) return null;
  const format = 'magentic-one';
  if (role === 'human') return { format, events: [{ type: 'user' }] };
  if (role.startsWith('Orchestrator')) {
    const agent = ORDER.exec(role)?.[1];
    return {
      format,
      events: agent === undefined ? [] : [{ type: 'call', id: `to ${agent}`, tool: agent, input: content ?? '' }],
    };
  }
  return { format, events: [{ type: 'result', id: `to ${role}`, output: contentText(content ?? '') }] };
};

/** A run as `secondwind export` writes it, or the answer of GET /v1/runs/{run_id}/steps. */
export const readSecondwind: RecordReader = (record, list) => {
  const { step_id, tool, input, attempts } = record;
  if (list !== 'steps' || typeof tool !== 'string' || step_id === undefined || !Array.isArray(attempts)) return null;
  const last = fieldsOf(attempts.at(-1));
  const failed = last['outcome'] === 'failed';
  const id = `step ${JSON.stringify(step_id)}`;
  const call = { type: 'call', id, tool, input: parseArguments(input) } as const;
  if (attempts.length === 0) return { format: 'secondwind', events: [call] };
  const output = last['output'] ?? last['message_preview'] ?? last['error_code'] ?? (failed ? 'failed' : '');
  return { format: 'secondwind', events: [call, { type: 'result', id, output, error: failed }] };
};
