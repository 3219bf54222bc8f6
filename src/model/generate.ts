/** The only module that imports the AI SDK, so that processes that only define agents do not load it. */
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import {
  generateText,
  jsonSchema,
  type JSONSchema7,
  type LanguageModelMiddleware,
  type ModelMessage,
  Output,
  tool,
  wrapLanguageModel,
} from 'ai';
import type { AssistantMessage, Message, ProviderState, ToolMessage } from '../core/transcript/message.ts';
import { defined, type Json } from '../protocol/json.ts';
import { boundedFetch } from './bounded-fetch.ts';
import { bodyWithTextArguments } from './object-arguments.ts';
import { orderedParts, type SaidState, stateInBody, stateInParts, stateSource } from './provider-state.ts';
import { isEndpoint, type ModelEndpoint, type ModelObject, type ModelSource } from '../define/model-source.ts';
import { isToldInWords, type ModelRequest, sentInstructions } from './request.ts';
import { type OnDelta, streamedFetch } from './streamed-fetch.ts';
import { streamedModel } from './streamed-model.ts';
import type { TokenParameter } from './token-parameter.ts';
import type { ToolNames } from './tool-names.ts';

/** The answer of the model, not checked yet. */
export interface Generated {
  text: string;
  refusal: string | null;
  calls: { id: string; name: string; input: unknown }[];
  finish: 'stop' | 'length' | 'content-filter' | 'tool-calls' | 'error' | 'other';
  inputTokens: number | undefined;
  outputTokens: number | undefined;
  cachedInputTokens: number | undefined;
  model: string;
  state: SaidState;
}

const PROVIDER = 'secondwind';

interface How {
  abortSignal: AbortSignal;
  tokenParameter: TokenParameter;
  /** Called with each piece of the answer while it arrives. Without it nothing is streamed. */
  onDelta?: OnDelta | undefined;
}

export async function generate(
  source: ModelSource,
  request: ModelRequest,
  names: ToolNames,
  how: How,
): Promise<Generated> {
  try {
    const { onDelta } = how;
    const fetchAnswer =
      onDelta === undefined
        ? boundedFetch
        : streamedFetch(onDelta, (wire) => names.fromWire(wire) ?? wire, boundedFetch);
    return await generateBy(fetchAnswer, source, request, names, how);
  } catch (error) {
    const body = isEndpoint(source) ? bodyWithTextArguments(error) : null;
    if (body === null) throw error;
    // The model has answered already; the corrected body is only parsed again.
    const answered = (): Promise<Response> => Promise.resolve(new Response(body, { headers: JSON_BODY }));
    return generateBy(answered, source, request, names, how);
  }
}

const JSON_BODY = { 'content-type': 'application/json' };

async function generateBy(
  fetchAnswer: typeof fetch,
  source: ModelSource,
  request: ModelRequest,
  names: ToolNames,
  { abortSignal, tokenParameter, onDelta }: How,
): Promise<Generated> {
  const inWords = isToldInWords(source);
  const system = sentInstructions(request, source);
  const model = isEndpoint(source)
    ? modelAt(source, tokenParameter, fetchAnswer)
    : streamedObject(source, names, onDelta);
  const result = await generateText({
    model: request.tool_choice === 'none' ? withoutCalls(model) : model,
    ...(system === '' ? {} : { system }),
    messages: request.messages.map((message) => messageFor(message, names, stateSource(source))),
    ...(request.tools.length === 0 ? {} : { tools: declareTools(request, names) }),
    ...(request.output_schema === undefined ? {} : { output: requestOutput(request.output_schema, inWords) }),
    // Strict mode supports only some schemas, and the answer is checked here anyway.
    providerOptions: { [PROVIDER]: { strictJsonSchema: false } },
    maxOutputTokens: request.max_output_tokens,
    maxRetries: 0,
    abortSignal,
  });
  return {
    text: result.text,
    refusal: refusalIn(result.response.body),
    calls: result.toolCalls.map((call) => ({ id: call.toolCallId, name: call.toolName, input: call.input })),
    finish: result.finishReason,
    inputTokens: result.usage.inputTokens,
    outputTokens: result.usage.outputTokens,
    cachedInputTokens: result.usage.inputTokenDetails.cacheReadTokens,
    model: result.response.modelId,
    state: isEndpoint(source)
      ? stateInBody(result.response.body)
      : stateInParts(assistantParts(result.response.messages)),
  };
}

const streamedObject = (model: ModelObject, names: ToolNames, onDelta: OnDelta | undefined): ModelObject =>
  onDelta === undefined ? model : streamedModel(model, onDelta, (wire) => names.fromWire(wire) ?? wire);

const assistantParts = (messages: readonly ModelMessage[]) =>
  messages.flatMap(({ role, content }) => (role === 'assistant' && typeof content !== 'string' ? content : []));

const modelAt = (
  { base_url, api_key, model, structured_output, headers, body }: ModelEndpoint,
  tokenParameter: TokenParameter,
  fetchAnswer: typeof fetch,
): ModelObject =>
  createOpenAICompatible({
    name: PROVIDER,
    baseURL: base_url,
    ...defined({ apiKey: api_key, headers }),
    supportsStructuredOutputs: structured_output !== 'json_object',
    transformRequestBody: ({ max_tokens, ...rest }) => ({ ...rest, [tokenParameter]: max_tokens as Json, ...body }),
    fetch: fetchAnswer,
  })(model);

/**
 * Forbids tool calls below the AI SDK, which would drop an answer that contains calls anyway. Some packages then leave out the tools,
 * and their providers refuse results of undeclared tools; for those the tools stay declared and the prompt forbids calls.
 */
function withoutCalls(model: ModelObject): ModelObject {
  if (model.specificationVersion !== 'v3' || /anthropic|bedrock/.test(model.provider)) return model;
  const transformParams: NonNullable<LanguageModelMiddleware['transformParams']> = async ({ params }) =>
    params.tools === undefined ? params : { ...params, toolChoice: { type: 'none' } };
  return wrapLanguageModel({ model, middleware: { specificationVersion: 'v3', transformParams } });
}

const declareTools = ({ tools }: ModelRequest, names: ToolNames) =>
  Object.fromEntries(
    tools.map(({ name, description, input_schema }) => [
      names.toWire(name),
      // The tool has no function to execute, because the run makes the calls.
      tool({ description, inputSchema: jsonSchema(objectSchema(input_schema)) }),
    ]),
  );

/** Providers require an object as the schema, even for a tool without arguments. */
const objectSchema = (schema: Json): JSONSchema7 => ({ properties: {}, ...(schema as JSONSchema7), type: 'object' });

/** Requests JSON of this schema. The caller checks the answer and keeps its text in any case. */
function requestOutput(schema: Json, inWords: boolean) {
  const spec = Output.object({ schema: jsonSchema(schema as JSONSchema7), name: 'answer' });
  const unchecked = { ...spec, parseCompleteOutput: ({ text }: { text: string }) => Promise.resolve(text) };
  return inWords ? { ...unchecked, responseFormat: Promise.resolve({ type: 'json' as const }) } : unchecked;
}

function messageFor(message: Message, names: ToolNames, to: string): ModelMessage {
  switch (message.role) {
    case 'system':
      return { role: 'system', content: message.text };
    case 'user':
      return { role: 'user', content: message.text };
    case 'assistant':
      return {
        role: 'assistant',
        content: orderedParts(message, to).flatMap((part) => partFor(part, message, names)),
        ...(message.state?.from === to ? optionsFor(message.state.options) : {}),
      };
    case 'tool':
      return {
        role: 'tool',
        content: [
          {
            type: 'tool-result',
            toolCallId: message.call_id,
            toolName: names.toWire(message.tool),
            output: toToolResult(message),
          },
        ],
      };
  }
}

type AssistantPart = Exclude<Extract<ModelMessage, { role: 'assistant' }>['content'], string>[number];

function partFor(part: ProviderState['parts'][number], { text, calls }: AssistantMessage, names: ToolNames) {
  const own = optionsFor(part.options);
  if (part.type === 'reasoning') return [{ type: 'reasoning', text: part.text, ...own } satisfies AssistantPart];
  if (part.type === 'text') return text === '' ? [] : [{ type: 'text', text, ...own } satisfies AssistantPart];
  return calls
    .filter(({ call_id }) => call_id === part.call_id)
    .map(({ call_id, tool: name, input }): AssistantPart => ({
      type: 'tool-call',
      toolCallId: call_id,
      toolName: names.toWire(name),
      input,
      ...own,
    }));
}

type ProviderOptions = NonNullable<Extract<ModelMessage, { role: 'assistant' }>['providerOptions']>;

const optionsFor = (options: Json | undefined) =>
  options === undefined ? {} : { providerOptions: options as ProviderOptions };

function toToolResult({ output, failed }: ToolMessage) {
  if (typeof output === 'string') return { type: failed ? 'error-text' : 'text', value: output } as const;
  return { type: failed ? 'error-json' : 'json', value: output } as const;
}

/** OpenAI sends a refusal in a separate field, which the AI SDK does not read. */
function refusalIn(body: unknown): string | null {
  const choice = (body as { choices?: { message?: { refusal?: unknown } }[] } | undefined)?.choices?.[0];
  const refusal = choice?.message?.refusal;
  return typeof refusal === 'string' && refusal !== '' ? refusal : null;
}
