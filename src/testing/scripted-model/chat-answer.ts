import type { Json } from '../../protocol/json.ts';
import type { ScriptedAnswer, ErrorReply } from './script.ts';

/** 2026-01-01. It is constant, so that playing a script twice gives the same bytes. */
const CREATED = 1_767_225_600;

const head = (model: string, object: string): { [key: string]: Json } => ({
  id: 'chatcmpl-scripted',
  object,
  created: CREATED,
  model,
});

const usageOf = ({ usage }: ScriptedAnswer): { [key: string]: Json } => ({
  prompt_tokens: usage.inputTokens,
  completion_tokens: usage.outputTokens,
  total_tokens: usage.inputTokens + usage.outputTokens,
});

/** Builds the whole answer as one body. */
export function buildCompletion(answer: ScriptedAnswer, model: string): Json {
  const calls = answer.calls.map((call) => ({
    id: call.id,
    type: 'function',
    function: { name: call.tool, arguments: call.arguments },
  }));
  const message = {
    role: 'assistant',
    content: answer.text,
    refusal: answer.refusal,
    ...(calls.length === 0 ? {} : { tool_calls: calls }),
  };
  return {
    ...head(model, 'chat.completion'),
    choices: [{ index: 0, message, logprobs: null, finish_reason: answer.finish }],
    usage: usageOf(answer),
  };
}

/** Builds the chunks of a streamed answer. */
export function buildChunks(answer: ScriptedAnswer, model: string, includeUsage: boolean): Json[] {
  const chunk = (delta: { [key: string]: Json }, finish_reason: Json = null): Json => ({
    ...head(model, 'chat.completion.chunk'),
    choices: [{ index: 0, delta, logprobs: null, finish_reason }],
  });
  const called = answer.calls.flatMap((call, index) => [
    chunk({
      tool_calls: [{ index, id: call.id, type: 'function', function: { name: call.tool, arguments: '' } }],
    }),
    ...inPieces(call.arguments).map((piece) => chunk({ tool_calls: [{ index, function: { arguments: piece } }] })),
  ]);
  return [
    chunk({ role: 'assistant', content: '' }),
    ...inPieces(answer.text ?? '').map((content) => chunk({ content })),
    ...inPieces(answer.refusal ?? '').map((refusal) => chunk({ refusal })),
    ...called,
    chunk({}, answer.finish),
    ...(includeUsage ? [{ ...head(model, 'chat.completion.chunk'), choices: [], usage: usageOf(answer) }] : []),
  ];
}

const PIECE_CHARS = 8;

export function inPieces(text: string): string[] {
  const chars = Array.from(text);
  const count = Math.ceil(chars.length / PIECE_CHARS);
  return Array.from({ length: count }, (_, index) =>
    chars.slice(index * PIECE_CHARS, (index + 1) * PIECE_CHARS).join(''),
  );
}

export const buildErrorBody = ({ message, type, code }: ErrorReply): Json => ({
  error: { message, type, param: null, code },
});
