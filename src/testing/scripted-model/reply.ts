import { defined, type Json } from '../../protocol/json.ts';
import type {
  ScriptedAnswer,
  AnswerCall,
  AnswerTurn,
  ErrorReply,
  FaultTurn,
  Reply,
  ScriptedCall,
  ScriptedRequest,
  ScriptedTurn,
  ScriptedUsage,
} from './script.ts';

/** Turns one turn of the script into a reply to this request. `nextId` numbers the calls of the whole script. */
export function buildReply(turn: ScriptedTurn, request: ScriptedRequest, nextId: () => string): Reply {
  return turn.fault === undefined ? buildAnswer(turn, request, nextId) : faultyReply(turn, request, nextId);
}

function buildAnswer(turn: AnswerTurn, request: ScriptedRequest, nextId: () => string): ScriptedAnswer {
  const calls = (turn.calls ?? []).map((call) => ({
    id: call.id ?? nextId(),
    tool: call.tool,
    arguments: call.arguments ?? JSON.stringify(call.input ?? {}),
  }));
  const text = turn.json === undefined ? (turn.text ?? null) : JSON.stringify(turn.json);
  const finish = turn.finish ?? (calls.length > 0 ? 'tool_calls' : 'stop');
  const usage = usageOf(turn.usage, request, text, calls);
  return { kind: 'answer', text, refusal: null, calls, finish, usage, ...(turn.hold && { hold: turn.hold }) };
}

function faultyReply(turn: FaultTurn, request: ScriptedRequest, nextId: () => string): Reply {
  const answer = (more: Omit<AnswerTurn, 'usage'>): ScriptedAnswer =>
    buildAnswer({ ...more, ...defined({ usage: turn.usage }) }, request, nextId);
  const calling = (call: ScriptedCall): ScriptedAnswer => answer({ calls: [call] });
  switch (turn.fault) {
    case 'rate_limit': {
      const headers = { 'retry-after': String(turn.retryAfterSeconds ?? 1) };
      return errorReply(429, 'rate_limit_exceeded', 'Rate limit reached for requests.', { headers });
    }
    case 'server_error':
      return errorReply(turn.status ?? 500, 'server_error', 'The server had an error while processing the request.');
    case 'http_error': {
      const { status, code = 'error', message = `The request was answered with ${status}.`, headers = {} } = turn;
      return errorReply(status, code, message, { headers });
    }
    case 'context_length': {
      const message = "This model's maximum context length is exceeded. Reduce the length of the messages.";
      return errorReply(400, 'context_length_exceeded', message);
    }
    case 'unsupported_parameter': {
      const { parameter = 'max_tokens', instead = 'max_completion_tokens' } = turn;
      const message = `Unsupported parameter: '${parameter}' is not supported with this model. Use '${instead}' instead.`;
      return errorReply(400, 'unsupported_parameter', message);
    }
    case 'hang':
      return { kind: 'hang' };
    case 'bad_json':
      return { kind: 'bad_json', body: turn.body ?? '{"id":"chatcmpl-1","choices":[{"message":{"content":"ha' };
    case 'cut_stream':
      return { kind: 'cut', answer: answer({ text: turn.text ?? 'This answer will not arrive whole.' }) };
    case 'refusal': {
      if (turn.filter === true) return answer({ text: '', finish: 'content_filter' });
      return { ...answer({}), refusal: turn.text ?? 'I can’t help with that.' };
    }
    case 'wrong_arguments': {
      const tool = request.tools.find(({ name }) => turn.tool === undefined || name === turn.tool);
      return calling({
        tool: turn.tool ?? tool?.name ?? 'tool',
        arguments: turn.arguments ?? notFitting(tool?.parameters),
      });
    }
    case 'invented_tool':
      return calling({ tool: turn.tool ?? 'no_such_tool', input: {} });
    case 'repeated_call': {
      const last = request.messages.flatMap((message) => (message.role === 'assistant' ? message.calls : [])).at(-1);
      const again = { tool: last?.tool ?? request.tools[0]?.name ?? 'tool', input: last?.input ?? {} };
      return calling(turn.sameId === true && last !== undefined ? { ...again, id: last.call_id } : again);
    }
    case 'empty':
      return answer({ text: '' });
    case 'length':
      return answer({ text: turn.text ?? 'This answer ends in the middle of a', finish: 'length' });
  }
}

export function errorReply(
  status: number,
  code: string,
  message: string,
  { headers = {} }: { headers?: Record<string, string> } = {},
): ErrorReply {
  const type = status === 429 ? 'requests' : status >= 500 ? 'server_error' : 'invalid_request_error';
  return { kind: 'error', status, code, type, message, headers };
}

/** An empty object if the tool has required arguments, else a value that is not an object and fits no tool. */
function notFitting(parameters: Json | undefined): string {
  const isObject = typeof parameters === 'object' && parameters !== null && !Array.isArray(parameters);
  const required = isObject ? parameters['required'] : undefined;
  return Array.isArray(required) && required.length > 0 ? '{}' : '[]';
}

const CHARS_PER_TOKEN = 4;
const tokensOf = (text: string): number => Math.ceil(text.length / CHARS_PER_TOKEN);

function usageOf(
  given: Partial<ScriptedUsage> | undefined,
  { messages, tools }: ScriptedRequest,
  text: string | null,
  calls: AnswerCall[],
): ScriptedUsage {
  const said = (text ?? '') + calls.map((call) => call.tool + call.arguments).join('');
  return {
    inputTokens: given?.inputTokens ?? tokensOf(JSON.stringify([messages, tools])),
    outputTokens: given?.outputTokens ?? tokensOf(said),
  };
}
