import type { ModelApi } from './read-conversation.ts';

/** An answer of the proxy itself, in the shape that the client of the API expects. */
export interface FinalAnswer {
  contentType: string;
  body: string;
}

interface Asked {
  id: string;
  /** In seconds since 1970. */
  created: number;
  model: string;
  text: string;
  stream: boolean;
  includeUsage: boolean;
}

const json = (value: object): FinalAnswer => ({ contentType: 'application/json', body: JSON.stringify(value) });

/** Server-sent events. Events of a chat have no name. */
const events = (list: readonly { event?: string; data: object | string }[]): FinalAnswer => ({
  contentType: 'text/event-stream; charset=utf-8',
  body: list
    .map(({ event, data }) => {
      const text = typeof data === 'string' ? data : JSON.stringify(data);
      return `${event === undefined ? '' : `event: ${event}\n`}data: ${text}\n\n`;
    })
    .join(''),
});

/** The model was not asked, so no tokens were used. */
const CHAT_USAGE = { prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 };

const chatAnswer = ({ id, created, model, text, stream, includeUsage }: Asked): FinalAnswer => {
  const about = { id: `chatcmpl-${id}`, created, model };
  if (!stream) {
    const message = { role: 'assistant', content: text, refusal: null };
    return json({
      ...about,
      object: 'chat.completion',
      choices: [{ index: 0, message, logprobs: null, finish_reason: 'stop' }],
      usage: CHAT_USAGE,
    });
  }
  const usage = includeUsage ? { usage: null } : {};
  const chunk = (delta: object, finish_reason: string | null) => ({
    data: {
      ...about,
      object: 'chat.completion.chunk',
      choices: [{ index: 0, delta, logprobs: null, finish_reason }],
      ...usage,
    },
  });
  return events([
    chunk({ role: 'assistant', content: '' }, null),
    chunk({ content: text }, null),
    chunk({}, 'stop'),
    ...(includeUsage ? [{ data: { ...about, object: 'chat.completion.chunk', choices: [], usage: CHAT_USAGE } }] : []),
    { data: '[DONE]' },
  ]);
};

const responsesAnswer = ({ id, created, model, text, stream }: Asked): FinalAnswer => {
  const part = { type: 'output_text', text, annotations: [], logprobs: [] };
  const item = { id: `msg_${id}`, type: 'message', role: 'assistant', status: 'completed', content: [part] };
  const response = {
    id: `resp_${id}`,
    object: 'response',
    created_at: created,
    status: 'completed',
    error: null,
    incomplete_details: null,
    instructions: null,
    max_output_tokens: null,
    metadata: {},
    model,
    output: [item],
    parallel_tool_calls: true,
    previous_response_id: null,
    temperature: null,
    tool_choice: 'auto',
    tools: [],
    top_p: null,
    usage: {
      input_tokens: 0,
      input_tokens_details: { cached_tokens: 0 },
      output_tokens: 0,
      output_tokens_details: { reasoning_tokens: 0 },
      total_tokens: 0,
    },
  };
  if (!stream) return json(response);
  const started = { ...response, status: 'in_progress', output: [], usage: null };
  const place = { item_id: item.id, output_index: 0, content_index: 0 };
  const steps: [string, object][] = [
    ['response.created', { response: started }],
    ['response.in_progress', { response: started }],
    ['response.output_item.added', { output_index: 0, item: { ...item, status: 'in_progress', content: [] } }],
    ['response.content_part.added', { ...place, part: { ...part, text: '' } }],
    ['response.output_text.delta', { ...place, delta: text, logprobs: [] }],
    ['response.output_text.done', { ...place, text, logprobs: [] }],
    ['response.content_part.done', { ...place, part }],
    ['response.output_item.done', { output_index: 0, item }],
    ['response.completed', { response }],
  ];
  return events(steps.map(([type, data], at) => ({ event: type, data: { type, sequence_number: at, ...data } })));
};

const messagesAnswer = ({ id, model, text, stream }: Asked): FinalAnswer => {
  const usage = { input_tokens: 0, output_tokens: 0 };
  const message = { id: `msg_${id}`, type: 'message', role: 'assistant', model, stop_sequence: null, usage };
  if (!stream) return json({ ...message, content: [{ type: 'text', text }], stop_reason: 'end_turn' });
  const steps: [string, object][] = [
    ['message_start', { message: { ...message, content: [], stop_reason: null } }],
    ['content_block_start', { index: 0, content_block: { type: 'text', text: '' } }],
    ['content_block_delta', { index: 0, delta: { type: 'text_delta', text } }],
    ['content_block_stop', { index: 0 }],
    ['message_delta', { delta: { stop_reason: 'end_turn', stop_sequence: null }, usage: { output_tokens: 0 } }],
    ['message_stop', {}],
  ];
  return events(steps.map(([type, data]) => ({ event: type, data: { type, ...data } })));
};

const ANSWERS: Readonly<Record<ModelApi, (asked: Asked) => FinalAnswer>> = {
  chat: chatAnswer,
  responses: responsesAnswer,
  messages: messagesAnswer,
};

/** Makes the final message of an assistant, streamed or not as the request asks. */
export const makeFinalAnswer = (api: ModelApi, asked: Asked): FinalAnswer => ANSWERS[api](asked);
