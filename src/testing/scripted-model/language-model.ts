import type { LanguageModel } from 'ai';
import type { Message, MessageCall } from '../../core/transcript/message.ts';
import type { Json } from '../../protocol/json.ts';
import { buildCompletion, buildErrorBody, inPieces } from './chat-answer.ts';
import { createPlayer, type Exchange, type ScriptedCounts, type ScriptPlayer } from './player.ts';
import type { ScriptedAnswer, Finish, Reply, Script, ScriptedRequest } from './script.ts';

type LanguageModelV3 = Extract<LanguageModel, { specificationVersion: 'v3' }>;
type CallOptions = Parameters<LanguageModelV3['doGenerate']>[0];
type Generated = Awaited<ReturnType<LanguageModelV3['doGenerate']>>;
type Streamed = Awaited<ReturnType<LanguageModelV3['doStream']>>;
type StreamPart = Streamed['stream'] extends ReadableStream<infer Part> ? Part : never;
type PromptMessage = CallOptions['prompt'][number];

/** An AI SDK model that follows a script and records every request. */
export interface ScriptedModel extends LanguageModelV3 {
  readonly exchanges: readonly Exchange[];
  counts(): ScriptedCounts;
  /** Pass it to `serveScriptedModel` to serve the same script over HTTP too. */
  readonly player: ScriptPlayer;
}

export function scriptedModel(script: Script, { modelId = 'scripted' }: { modelId?: string } = {}): ScriptedModel {
  const player = createPlayer(script);
  const ask = async (options: CallOptions, stream: boolean): Promise<ScriptedAnswer | { cut: ScriptedAnswer }> => {
    options.abortSignal?.throwIfAborted();
    const reply = await player.play(readRequest(options, modelId, stream));
    if (reply.kind === 'answer') return reply;
    if (reply.kind === 'cut') return { cut: reply.answer };
    if (reply.kind === 'hang') return await aborted(options.abortSignal);
    throw await buildError(reply);
  };
  return {
    specificationVersion: 'v3',
    provider: 'scripted',
    modelId,
    supportedUrls: {},
    exchanges: player.exchanges,
    counts: () => player.counts(),
    player,
    async doGenerate(options) {
      const answer = await ask(options, false);
      if ('cut' in answer) throw await cutError();
      await answer.hold?.();
      return generated(answer, modelId);
    },
    async doStream(options) {
      const answer = await ask(options, true);
      const parts = partsOf('cut' in answer ? answer.cut : answer, options.includeRawChunks === true);
      const error = 'cut' in answer ? await cutError() : null;
      const sent = error === null ? parts : parts.slice(0, Math.ceil(parts.length / 2));
      return { stream: buildStream(sent, error, 'cut' in answer ? undefined : answer.hold) };
    },
  };
}

function readRequest(options: CallOptions, model: string, stream: boolean): Omit<ScriptedRequest, 'index'> {
  const format = options.responseFormat;
  return {
    model,
    messages: options.prompt.flatMap(messagesOf),
    tools: (options.tools ?? []).flatMap((tool) =>
      tool.type === 'function'
        ? [{ name: tool.name, description: tool.description ?? '', parameters: tool.inputSchema as Json }]
        : [],
    ),
    toolChoice:
      options.toolChoice?.type === 'tool'
        ? { tool: options.toolChoice.toolName }
        : (options.toolChoice?.type ?? 'auto'),
    output: format?.type === 'json' ? ((format.schema as Json | undefined) ?? true) : null,
    maxOutputTokens: options.maxOutputTokens ?? null,
    maxOutputTokensName: null,
    stream,
  };
}

function messagesOf(message: PromptMessage): Message[] {
  switch (message.role) {
    case 'system':
      return [{ role: 'system', text: message.content }];
    case 'user':
      return [
        { role: 'user', text: message.content.map((part) => (part.type === 'text' ? part.text : '[file]')).join('') },
      ];
    case 'assistant': {
      const text = message.content.map((part) => (part.type === 'text' ? part.text : '')).join('');
      const calls = message.content.flatMap((part): MessageCall[] =>
        part.type === 'tool-call'
          ? [{ call_id: part.toolCallId, tool: part.toolName, input: part.input as MessageCall['input'] }]
          : [],
      );
      return [{ role: 'assistant', text, calls }];
    }
    case 'tool':
      return message.content.flatMap((part): Message[] =>
        part.type === 'tool-result'
          ? [{ role: 'tool', call_id: part.toolCallId, tool: part.toolName, output: outputText(part.output) }]
          : [],
      );
  }
}

type ResultOutput = Extract<
  Extract<PromptMessage, { role: 'tool' }>['content'][number],
  { type: 'tool-result' }
>['output'];

const outputText = (output: ResultOutput): string => {
  if (output.type === 'execution-denied') return output.reason ?? 'denied';
  return typeof output.value === 'string' ? output.value : JSON.stringify(output.value);
};

const UNIFIED = {
  stop: 'stop',
  tool_calls: 'tool-calls',
  length: 'length',
  content_filter: 'content-filter',
} as const satisfies Record<Finish, string>;

const finishOf = ({ finish }: ScriptedAnswer): Generated['finishReason'] => ({ unified: UNIFIED[finish], raw: finish });

const usageOf = ({ usage }: ScriptedAnswer): Generated['usage'] => ({
  inputTokens: { total: usage.inputTokens, noCache: usage.inputTokens, cacheRead: 0, cacheWrite: undefined },
  outputTokens: { total: usage.outputTokens, text: usage.outputTokens, reasoning: 0 },
});

const callsOf = (answer: ScriptedAnswer) =>
  answer.calls.map((call) => ({
    type: 'tool-call' as const,
    toolCallId: call.id,
    toolName: call.tool,
    input: call.arguments,
  }));

const generated = (answer: ScriptedAnswer, model: string): Generated => ({
  content: [
    ...(answer.text === null || answer.text === '' ? [] : [{ type: 'text' as const, text: answer.text }]),
    ...callsOf(answer),
  ],
  finishReason: finishOf(answer),
  usage: usageOf(answer),
  warnings: [],
  response: { modelId: model, body: buildCompletion(answer, model) },
});

function partsOf(answer: ScriptedAnswer, withRaw: boolean): StreamPart[] {
  const text = inPieces(answer.text ?? '');
  return [
    { type: 'stream-start', warnings: [] },
    ...(text.length === 0 ? [] : [{ type: 'text-start' as const, id: '1' }]),
    ...text.map((delta) => ({ type: 'text-delta' as const, id: '1', delta })),
    ...(text.length === 0 ? [] : [{ type: 'text-end' as const, id: '1' }]),
    ...callsOf(answer),
    // The AI SDK has no part for a refusal.
    ...(withRaw && answer.refusal !== null
      ? [{ type: 'raw' as const, rawValue: { choices: [{ delta: { refusal: answer.refusal } }] } }]
      : []),
    { type: 'finish', finishReason: finishOf(answer), usage: usageOf(answer) },
  ];
}

const buildStream = (
  parts: StreamPart[],
  error: Error | null,
  hold: (() => Promise<unknown>) | undefined,
): ReadableStream<StreamPart> =>
  new ReadableStream({
    async start(controller) {
      for (const part of parts) {
        if (part.type === 'finish') await hold?.();
        controller.enqueue(part);
      }
      if (error === null) controller.close();
      else controller.error(error);
    },
  });

const aborted = (signal: AbortSignal | undefined): Promise<never> =>
  new Promise((_resolve, reject) => {
    if (signal?.aborted) reject(signal.reason as Error);
    else signal?.addEventListener('abort', () => reject(signal.reason as Error), { once: true });
  });

/** Builds the error that a provider's package would throw after the same HTTP response. */
async function buildError(reply: Exclude<Reply, ScriptedAnswer | { kind: 'cut' | 'hang' }>): Promise<Error> {
  const { APICallError } = await import('ai');
  const call = { url: 'scripted:', requestBodyValues: {} };
  if (reply.kind === 'bad_json') {
    return new APICallError({ ...call, message: 'Invalid JSON response', statusCode: 200, responseBody: reply.body });
  }
  const data = buildErrorBody(reply);
  return new APICallError({
    ...call,
    message: reply.message,
    statusCode: reply.status,
    responseHeaders: reply.headers,
    responseBody: JSON.stringify(data),
    data,
  });
}

async function cutError(): Promise<Error> {
  const { APICallError } = await import('ai');
  const cause = Object.assign(new Error('other side closed'), { code: 'UND_ERR_SOCKET' });
  const call = { url: 'scripted:', requestBodyValues: {}, statusCode: 200 };
  return new APICallError({ ...call, message: 'Failed to process successful response', cause });
}
