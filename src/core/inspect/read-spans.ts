/** Reader for OpenTelemetry spans: GenAI conventions, OpenInference, and the steps of smolagents. */
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

/** Attributes are an object, or a list of `{key, value: {stringValue}}` in OTLP. */
const attributesOf = (span: Fields): Fields => {
  const given = span['span_attributes'] ?? span['attributes'];
  if (!Array.isArray(given)) return fieldsOf(given);
  return Object.fromEntries(
    given.map((entry) => {
      const { key, value } = fieldsOf(entry);
      return [String(key), Object.values(fieldsOf(value))[0]];
    }),
  );
};

const childrenOf = (span: Fields): Fields[] => listOf(span['child_spans'] ?? span['children']).filter(isFields);
const nameOf = (span: Fields): string => textOf(span['span_name']) ?? textOf(span['name']) ?? '';
const kindOf = (span: Fields): string => textOf(attributesOf(span)['openinference.span.kind'])?.toUpperCase() ?? '';
const hasFailed = (span: Fields): boolean =>
  span['status_code'] === 'Error' ||
  [2, 'STATUS_CODE_ERROR', 'ERROR'].some((code) => fieldsOf(span['status'])['code'] === code);

/** Why a span failed: the exception that it recorded as an event, or the message of its status. */
const errorOf = (span: Fields): string => {
  const said = listOf(span['events']).map((event) => {
    const fields = fieldsOf(event);
    const attributes = fieldsOf(fields['Attributes'] ?? fields['attributes'] ?? fields['event_attributes']);
    return textOf(attributes['exception.message']);
  });
  return (
    said.find((text) => text !== null) ??
    textOf(span['status_message']) ??
    textOf(fieldsOf(span['status'])['message']) ??
    'failed'
  );
};

const answer = (span: Fields, output: unknown): TranscriptEvent => {
  const isFailed = hasFailed(span);
  const value = output ?? (isFailed ? errorOf(span) : '');
  return { type: 'result', id: null, output: typeof value === 'string' ? value : contentText(value), error: isFailed };
};

/** The call that a model asked for, in OpenInference's attributes of its answer. */
const askedOf = (model: Fields | undefined): { tool: string; input: unknown } | null => {
  const attributes = model === undefined ? {} : attributesOf(model);
  const prefix = 'llm.output_messages.0.message.tool_calls.0.tool_call.function';
  const tool = textOf(attributes[`${prefix}.name`]);
  return tool === null ? null : { tool, input: parseArguments(attributes[`${prefix}.arguments`]) };
};

const codeOf = (model: Fields | undefined): unknown => {
  const written = model === undefined ? null : parseArguments(attributesOf(model)['output.value']);
  return isFields(written) ? (written['content'] ?? written) : written;
};

const isStep = (span: Fields): boolean => /^Step \d{1,5}$/.test(nameOf(span)) && kindOf(span) === 'CHAIN';

/** A step of smolagents is one call: of the tool that the model asked for, or of Python with the code it wrote. */
const stepEvents = (step: Fields, agent: string): TranscriptEvent[] => {
  const children = childrenOf(step);
  const model = children.find((child) => kindOf(child) === 'LLM');
  const inner = children.flatMap((child) => (kindOf(child) === 'AGENT' ? spanEvents(child, '') : []));
  const asked = askedOf(model);
  const call: TranscriptEvent = {
    type: 'call',
    id: null,
    tool: asked === null ? `${agent}:python` : `${agent}:${asked.tool}`,
    input: asked === null ? codeOf(model) : asked.input,
  };
  return [...inner, call, answer(step, attributesOf(step)['output.value'])];
};

function toolEvents(span: Fields, attributes: Fields): TranscriptEvent[] {
  const tool = textOf(attributes['gen_ai.tool.name']) ?? textOf(attributes['tool.name']) ?? nameOf(span);
  const input = parseArguments(attributes['gen_ai.tool.call.arguments'] ?? attributes['input.value']);
  const output = attributes['gen_ai.tool.call.result'] ?? attributes['output.value'];
  return [{ type: 'call', id: null, tool, input }, answer(span, output)];
}

function spanEvents(span: Fields, agent: string): TranscriptEvent[] {
  const attributes = attributesOf(span);
  const owner = kindOf(span) === 'AGENT' ? (/^([\w-]{1,60})\.run$/.exec(nameOf(span))?.[1] ?? agent) : agent;
  if (isStep(span)) return stepEvents(span, owner);
  const isTool = kindOf(span) === 'TOOL' || attributes['gen_ai.operation.name'] === 'execute_tool';
  const own = isTool ? toolEvents(span, attributes) : [];
  const usage = { output_tokens: attributes['gen_ai.usage.output_tokens'] ?? attributes['llm.token_count.completion'] };
  const tokens = kindOf(span) === 'AGENT' ? [] : tokensEvent(usage, textOf(span['span_id'] ?? span['spanId']));
  return [...own, ...tokens, ...childrenOf(span).flatMap((child) => spanEvents(child, owner))];
}

const isSpan = (record: Fields): boolean =>
  (textOf(record['span_id']) ?? textOf(record['spanId'])) !== null &&
  (record['span_attributes'] !== undefined ||
    record['attributes'] !== undefined ||
    record['span_name'] !== undefined ||
    record['name'] !== undefined);

/** A span with its children, or a batch of spans as OTLP sends them. */
export const readSpans: RecordReader = (record) => {
  if (isSpan(record)) return { format: 'opentelemetry', events: spanEvents(record, 'agent') };
  const scopes = listOf(record['scopeSpans'] ?? record['scope_spans']);
  if (scopes.length === 0) return null;
  const spans = scopes.flatMap((scope) => listOf(fieldsOf(scope)['spans'])).filter(isFields);
  const started = (span: Fields): number => Number(span['startTimeUnixNano'] ?? span['start_time_unix_nano'] ?? 0);
  const sorted = spans.toSorted((one, other) => started(one) - started(other));
  return { format: 'opentelemetry', events: sorted.flatMap((span) => spanEvents(span, 'agent')) };
};
