import type { Message, MessageCall } from '../../core/transcript/message.ts';
import type { Json } from '../../protocol/json.ts';
import type { ScriptedRequest, ScriptedTool } from './script.ts';

export interface ChatRequest extends Omit<ScriptedRequest, 'index'> {
  includeUsage: boolean;
}

/** Thrown for a body that is not a chat request. The message is sent back to the caller. */
export class UnreadableRequest extends Error {
  override readonly name = 'UnreadableRequest';
}

/** Reads the body of POST /v1/chat/completions. */
export function readChatRequest(text: string): ChatRequest {
  const body = objectAt('The body', parsed('The body', text));
  const messages = listAt('messages', body['messages']);
  const tools = body['tools'] === undefined ? [] : listAt('tools', body['tools']);
  const limitName = (['max_completion_tokens', 'max_tokens'] as const).find((name) => typeof body[name] === 'number');
  const limit = limitName === undefined ? null : body[limitName];
  const options = body['stream_options'];
  return {
    model: textAt('model', body['model']),
    messages: readMessages(messages),
    tools: tools.map((tool, index) => readTool(tool, `tools[${index}]`)),
    toolChoice: readToolChoice(body['tool_choice']),
    output: readFormat(body['response_format']),
    maxOutputTokens: typeof limit === 'number' ? limit : null,
    maxOutputTokensName: limitName ?? null,
    stream: body['stream'] === true,
    includeUsage: isObject(options) && options['include_usage'] === true,
  };
}

type JsonObject = { [key: string]: Json };
const isObject = (value: Json | undefined): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

function parsed(path: string, text: string): Json {
  try {
    return JSON.parse(text) as Json;
  } catch {
    throw new UnreadableRequest(`${path} is not JSON.`);
  }
}
function objectAt(path: string, value: Json | undefined): JsonObject {
  if (!isObject(value)) throw new UnreadableRequest(`${path} must be an object.`);
  return value;
}
function listAt(path: string, value: Json | undefined): Json[] {
  if (!Array.isArray(value)) throw new UnreadableRequest(`${path} must be a list.`);
  return value;
}
function textAt(path: string, value: Json | undefined): string {
  if (typeof value !== 'string') throw new UnreadableRequest(`${path} must be a text.`);
  return value;
}

function readMessages(messages: Json[]): Message[] {
  const toolOfCall = new Map<string, string>();
  return messages.map((value, index) => {
    const path = `messages[${index}]`;
    const message = objectAt(path, value);
    const role = message['role'];
    switch (role) {
      case 'system':
      case 'developer':
        return { role: 'system', text: readContent(message['content'], path) };
      case 'user':
        return { role: 'user', text: readContent(message['content'], path) };
      case 'assistant': {
        const calls = message['tool_calls'] === undefined ? [] : readCalls(message['tool_calls'], path);
        for (const call of calls) toolOfCall.set(call.call_id, call.tool);
        return { role: 'assistant', text: readContent(message['content'] ?? '', path), calls };
      }
      case 'tool': {
        const call_id = textAt(`${path}.tool_call_id`, message['tool_call_id']);
        const output = readContent(message['content'], path);
        return { role: 'tool', call_id, tool: toolOfCall.get(call_id) ?? '', output };
      }
      default:
        throw new UnreadableRequest(`${path}.role: ${JSON.stringify(role ?? null).slice(0, 40)} is no role.`);
    }
  });
}

function readContent(content: Json | undefined, path: string): string {
  if (typeof content === 'string') return content;
  const parts = listAt(`${path}.content`, content);
  return parts
    .map((value, index) => {
      const part = objectAt(`${path}.content[${index}]`, value);
      const type = textAt(`${path}.content[${index}].type`, part['type']);
      return type === 'text' ? textAt(`${path}.content[${index}].text`, part['text']) : `[${type}]`;
    })
    .join('');
}

function readCalls(value: Json, path: string): MessageCall[] {
  return listAt(`${path}.tool_calls`, value).map((item, index) => {
    const at = `${path}.tool_calls[${index}]`;
    const call = objectAt(at, item);
    const called = objectAt(`${at}.function`, call['function']);
    const written = `${at}.function.arguments`;
    const input = parsed(written, textAt(written, called['arguments']));
    return {
      call_id: textAt(`${at}.id`, call['id']),
      tool: textAt(`${at}.function.name`, called['name']),
      input: objectAt(`${written}, read as JSON,`, input),
    };
  });
}

function readTool(value: Json, path: string): ScriptedTool {
  const called = objectAt(`${path}.function`, objectAt(path, value)['function']);
  return {
    name: textAt(`${path}.function.name`, called['name']),
    description: typeof called['description'] === 'string' ? called['description'] : '',
    parameters: called['parameters'] ?? { type: 'object' },
  };
}

function readToolChoice(choice: Json | undefined): ScriptedRequest['toolChoice'] {
  if (choice === undefined || choice === 'auto') return 'auto';
  if (choice === 'none' || choice === 'required') return choice;
  const called = objectAt('tool_choice.function', objectAt('tool_choice', choice)['function']);
  return { tool: textAt('tool_choice.function.name', called['name']) };
}

function readFormat(format: Json | undefined): Json {
  if (!isObject(format) || format['type'] === 'text') return null;
  const schema = isObject(format['json_schema']) ? format['json_schema']['schema'] : undefined;
  return schema ?? true;
}
