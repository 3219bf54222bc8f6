import { type Attributes, SpanKind, SpanStatusCode } from '@opentelemetry/api';
import type { Message } from '../core/transcript/message.ts';
import { MODEL_CALLS, type ModelCallSeen } from '../model/model-call-channel.ts';
import { ERROR_TYPE, GEN_AI, SECONDWIND, SERVER_ADDRESS } from './attributes.ts';
import type { Tracing } from './tracing.ts';
import type { AttributeBuilder } from './attribute-builder.ts';

/** Creates a span for each model call, as a child of the activity that made it. Returns a function that stops this. */
export function watchModelCalls(tracing: Tracing, words: AttributeBuilder): () => void {
  const onCall = (message: unknown): void => {
    const call = message as ModelCallSeen;
    const attributes = { ...attributesOf(call, words), ...contentOf(call, words) };
    const options = { kind: SpanKind.CLIENT, attributes, startTime: call.startedAt };
    const span = tracing.tracer.startSpan(`chat ${call.model}`, options);
    if (call.outcome.class === 'failed') span.setStatus({ code: SpanStatusCode.ERROR });
    span.end();
  };
  MODEL_CALLS.subscribe(onCall);
  return () => {
    MODEL_CALLS.unsubscribe(onCall);
  };
}

function attributesOf(
  { model, provider, server, request, outcome }: ModelCallSeen,
  { plain }: AttributeBuilder,
): Attributes {
  const usage = outcome.class === 'cancelled' ? null : outcome.usage;
  return plain({
    [GEN_AI.operation]: 'chat',
    [GEN_AI.provider]: provider,
    [SERVER_ADDRESS]: server,
    [GEN_AI.requestModel]: model,
    [GEN_AI.maxTokens]: request.max_output_tokens,
    [GEN_AI.inputTokens]: usage?.input_tokens,
    [GEN_AI.outputTokens]: usage?.output_tokens,
    [GEN_AI.cachedTokens]: usage?.cached_input_tokens,
    [SECONDWIND.outcome]: outcome.class,
    ...(outcome.class === 'ok' && { [GEN_AI.responseModel]: outcome.model, [GEN_AI.finishReasons]: [outcome.finish] }),
    ...(outcome.class === 'failed' && {
      [ERROR_TYPE]: outcome.error_code,
      [SECONDWIND.category]: outcome.category,
    }),
  });
}

function contentOf({ request, outcome }: ModelCallSeen, { content }: AttributeBuilder): Attributes {
  const said: Message[] =
    outcome.class === 'ok' ? [{ role: 'assistant', text: outcome.text ?? '', calls: outcome.calls }] : [];
  return content({
    [GEN_AI.instructions]: [{ type: 'text', content: request.instructions }],
    [GEN_AI.inputMessages]: request.messages.map(asParts),
    [GEN_AI.outputMessages]: said.map(asParts),
  });
}

/** A message in the format of the conventions. */
function asParts(message: Message) {
  if (message.role === 'tool') {
    return { role: 'tool', parts: [{ type: 'tool_call_response', id: message.call_id, result: message.output }] };
  }
  const calls = message.role === 'assistant' ? message.calls : [];
  return {
    role: message.role,
    parts: [
      ...(message.text === '' ? [] : [{ type: 'text', content: message.text }]),
      ...calls.map(({ call_id, tool, input }) => ({ type: 'tool_call', id: call_id, name: tool, arguments: input })),
    ],
  };
}
