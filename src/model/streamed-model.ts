import { type LanguageModelMiddleware, wrapLanguageModel } from 'ai';
import type { ModelObject } from '../define/model-source.ts';
import { isRecord } from '../protocol/json.ts';
import type { OnDelta } from './streamed-fetch.ts';

type WrapGenerate = NonNullable<LanguageModelMiddleware['wrapGenerate']>;
type Generated = Awaited<ReturnType<WrapGenerate>>;
type Content = Generated['content'][number];
type StreamPart =
  Awaited<ReturnType<Parameters<WrapGenerate>[0]['doStream']>>['stream'] extends ReadableStream<infer Part>
    ? Part
    : never;

/**
 * Has a model object of the AI SDK stream its answers, and puts each answer together as if it had not. Models of another
 * version of the interface, and those that cannot stream, are used as they are.
 */
export function streamedModel(model: ModelObject, onDelta: OnDelta, toolName: (wire: string) => string): ModelObject {
  if (model.specificationVersion !== 'v3') return model;
  const wrapGenerate: WrapGenerate = async ({ doGenerate, model: inner, params }) => {
    const streamed = await Promise.resolve(inner.doStream({ ...params, includeRawChunks: true })).catch(
      (error: unknown) => {
        if (!(error instanceof Error && error.name === 'AI_UnsupportedFunctionalityError')) throw error;
        return null;
      },
    );
    if (streamed === null) return doGenerate();
    const { stream, request, response } = streamed;
    const answer = new AnswerAssembler(onDelta, toolName);
    for await (const part of stream as unknown as AsyncIterable<StreamPart>) answer.add(part);
    return answer.generated({ ...(request && { request }), headers: response?.headers });
  };
  return wrapLanguageModel({ model, middleware: { specificationVersion: 'v3', wrapGenerate } });
}

type Open = Extract<Content, { type: 'text' | 'reasoning' }>;

/** Collects the parts of a stream. */
class AnswerAssembler {
  readonly #onDelta: OnDelta;
  readonly #toolName: (wire: string) => string;
  readonly #content: Content[] = [];
  readonly #open = new Map<string, Open>();
  readonly #calls = new Map<string, string>();
  #warnings: Generated['warnings'] = [];
  #metadata: Record<string, unknown> = {};
  #finish: Extract<StreamPart, { type: 'finish' }> | null = null;
  #refusal = '';

  constructor(onDelta: OnDelta, toolName: (wire: string) => string) {
    this.#onDelta = onDelta;
    this.#toolName = toolName;
  }

  add(part: StreamPart): void {
    switch (part.type) {
      case 'stream-start':
        this.#warnings = part.warnings;
        return;
      case 'response-metadata': {
        const { type: _type, ...metadata } = part;
        this.#metadata = { ...this.#metadata, ...metadata };
        return;
      }
      case 'text-start':
      case 'reasoning-start':
        return this.#begin(part.type === 'text-start' ? 'text' : 'reasoning', part);
      case 'text-delta':
      case 'reasoning-delta':
        return this.#extend(part.type === 'text-delta' ? 'text' : 'reasoning', part);
      case 'text-end':
      case 'reasoning-end':
        return this.#close(part);
      case 'tool-input-start':
        this.#calls.set(part.id, this.#toolName(part.toolName));
        return this.#tellCall(part.id, '');
      case 'tool-input-delta':
        return this.#tellCall(part.id, part.delta);
      case 'tool-input-end':
        return;
      case 'tool-call':
        // A model that does not stream arguments sends the call at once.
        if (!this.#calls.has(part.toolCallId)) {
          this.#calls.set(part.toolCallId, this.#toolName(part.toolName));
          this.#tellCall(part.toolCallId, part.input);
        }
        this.#content.push(part);
        return;
      case 'finish':
        this.#finish = part;
        return;
      case 'raw':
        this.#refusal += refusalIn(part.rawValue);
        return;
      case 'error':
        throw part.error;
      default:
        this.#content.push(part);
    }
  }

  generated({
    headers,
    ...rest
  }: Pick<Generated, 'request'> & { headers: Record<string, string> | undefined }): Generated {
    // The connection ended before the model did.
    if (this.#finish === null) throw Object.assign(new TypeError('terminated'), { code: 'UND_ERR_SOCKET' });
    const { finishReason, usage, providerMetadata } = this.#finish;
    const body = this.#refusal === '' ? {} : { body: { choices: [{ message: { refusal: this.#refusal } }] } };
    return {
      ...rest,
      content: this.#content.filter((part) => part.type !== 'text' || part.text !== ''),
      finishReason,
      usage,
      warnings: this.#warnings,
      ...(providerMetadata && { providerMetadata }),
      response: { ...this.#metadata, ...(headers && { headers }), ...body },
    };
  }

  #begin(
    type: Open['type'],
    { id, providerMetadata }: { id: string; providerMetadata?: Open['providerMetadata'] },
  ): void {
    const open: Open = { type, text: '', ...(providerMetadata && { providerMetadata }) };
    this.#open.set(id, open);
    this.#content.push(open);
  }

  #extend(type: Open['type'], part: { id: string; delta: string; providerMetadata?: Open['providerMetadata'] }): void {
    if (!this.#open.has(part.id)) this.#begin(type, part);
    const open = this.#open.get(part.id);
    if (open === undefined) return;
    open.text += part.delta;
    if (part.providerMetadata) open.providerMetadata = part.providerMetadata;
    if (type === 'text' && part.delta !== '') this.#onDelta({ kind: 'text', text: part.delta });
  }

  #close({ id, providerMetadata }: { id: string; providerMetadata?: Open['providerMetadata'] }): void {
    const open = this.#open.get(id);
    if (open !== undefined && providerMetadata) open.providerMetadata = providerMetadata;
    this.#open.delete(id);
  }

  #tellCall(id: string, text: string): void {
    this.#onDelta({ kind: 'tool_call', call_id: id, tool: this.#calls.get(id) ?? '', text });
  }
}

/** OpenAI streams a refusal in a field of its own, which the AI SDK does not read. */
function refusalIn(chunk: unknown): string {
  const choice = isRecord(chunk) && Array.isArray(chunk['choices']) ? (chunk['choices'][0] as unknown) : undefined;
  const delta = isRecord(choice) ? choice['delta'] : undefined;
  const refusal = isRecord(delta) ? delta['refusal'] : undefined;
  return typeof refusal === 'string' ? refusal : '';
}
