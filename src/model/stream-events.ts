import { isRecord } from '../protocol/json.ts';

/** Yields the data of server-sent events, without the last `[DONE]`. */
export async function* readStreamData(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let text = '';
  for await (const chunk of chunks) {
    text += decoder.decode(chunk, { stream: true });
    const lines = text.split(/\r\n|\n|\r(?!$)/);
    text = lines.pop() ?? '';
    yield* lines.flatMap(dataIn);
  }
  yield* dataIn(text);
}

const dataIn = (line: string): string[] => {
  const data = line.startsWith('data:') ? line.slice('data:'.length).trim() : '';
  return data === '' || data === '[DONE]' ? [] : [data];
};

type Bag = Record<string, unknown>;

/** Fields that arrive in pieces. Every other field arrives whole, and some servers repeat it in every chunk. */
const IN_PIECES = new Set(
  'content arguments text refusal reasoning reasoning_content reasoning_text thinking summary data signature'.split(
    ' ',
  ),
);

/** Adds the delta of a chunk to the message so far. Items of lists are matched by their `index`. */
function mergeDelta(into: Bag, delta: Bag): void {
  for (const [name, value] of Object.entries(delta)) {
    const before = into[name];
    if (value === null || value === undefined) into[name] ??= value;
    else if (Array.isArray(value)) into[name] = mergeList(Array.isArray(before) ? before : [], value);
    else if (isRecord(value)) {
      const inner = isRecord(before) ? before : {};
      mergeDelta(inner, value);
      into[name] = inner;
    } else if (typeof value === 'string' && typeof before === 'string') {
      if (IN_PIECES.has(name)) into[name] = before + value;
      else if (value !== '') into[name] = value;
    } else into[name] = value;
  }
}

function mergeList(list: unknown[], more: readonly unknown[]): unknown[] {
  for (const item of more) {
    const index = isRecord(item) ? item['index'] : undefined;
    const known = typeof index === 'number' ? list.find((one) => isRecord(one) && one['index'] === index) : undefined;
    if (isRecord(known) && isRecord(item)) mergeDelta(known, item);
    else list.push(isRecord(item) ? structuredClone(item) : item);
  }
  return list;
}

/** Puts the chunks of a streamed chat completion together to the body that the same request gets without streaming. */
export class ChatAssembler {
  readonly #head: Bag = {};
  readonly #message: Bag = {};
  #finish: unknown = null;

  /** Adds a chunk and returns the delta of the first choice. */
  add(chunk: Bag): Bag {
    const { choices, object: _object, ...rest } = chunk;
    for (const [name, value] of Object.entries(rest))
      if (value !== null && value !== undefined) this.#head[name] = value;
    const choice: unknown = Array.isArray(choices) ? choices[0] : undefined;
    if (!isRecord(choice)) return {};
    // Some servers send a whole message in the last chunk, or in their only one.
    const delta = isRecord(choice['delta']) ? choice['delta'] : isRecord(choice['message']) ? choice['message'] : {};
    mergeDelta(this.#message, delta);
    if (typeof choice['finish_reason'] === 'string') this.#finish = choice['finish_reason'];
    return delta;
  }

  get isFinished(): boolean {
    return this.#finish !== null;
  }

  body(): string {
    const { tool_calls: calls, ...message } = this.#message;
    const listed = Array.isArray(calls) ? { tool_calls: calls.map(withoutIndex) } : {};
    const choice = {
      index: 0,
      message: { role: 'assistant', content: null, ...message, ...listed },
      finish_reason: this.#finish,
    };
    return JSON.stringify({ ...this.#head, object: 'chat.completion', choices: [choice] });
  }
}

function withoutIndex(call: unknown): unknown {
  if (!isRecord(call)) return call;
  const { index: _index, ...rest } = call;
  return { type: 'function', ...rest };
}
