import { salientLine } from '../core/failures/salient-line.ts';
import { createRedactor, type Redact } from '../core/redaction/redact.ts';
import type { Message } from '../core/transcript/message.ts';
import { checkTranscript } from '../core/transcript/check-transcript.ts';
import { joinNeighbours } from '../core/transcript/join-neighbours.ts';
import { defined, type Json } from '../protocol/json.ts';
import { CAP } from '../protocol/caps.ts';
import type { ModelAnswer, ModelFailed, ModelOutcome, ModelUsage } from '../protocol/model.ts';
import type { CallFailed } from '../protocol/tools.ts';
import { classifyThrown } from './failed-call.ts';
import type { Generated } from './generate.ts';
import { createJsonCheck } from './json-check.ts';
import { type ReadAnswer, readAnswer, readUsage } from './read-answer.ts';
import { isEndpoint, type ModelSource } from '../define/model-source.ts';
import { ANSWER_CAP, type ModelRequest } from './request.ts';
import type { OnDelta } from './streamed-fetch.ts';
import { publishModelCall } from './model-call-channel.ts';
import { maskMessages } from './mask-messages.ts';
import { toProviderState, stateSource } from './provider-state.ts';
import { maskSecretsOf, redactSecretsOf } from './model-secrets.ts';
import { OWN, type SettingNames, setupHint } from './setup-hint.ts';
import { learnTokenParameter, type TokenParameter, chooseTokenParameter } from './token-parameter.ts';
import { createToolNames } from './tool-names.ts';

export interface AskOptions {
  model: ModelSource;
  /** Aborted when the run is cancelled or the worker shuts down. */
  signal?: AbortSignal;
  redact?: Redact;
  /** Masks the values of known secrets in what is sent; everything else is sent exactly. Default: masks nothing. */
  maskKnown?: Redact;
  /** Called with each piece of the answer while it arrives. Without it the answer is not streamed. It must not throw. */
  onDelta?: OnDelta | undefined;
  /** True if a second call is allowed, for servers that accept the request only in another form. */
  mayAskAgain?: boolean;
  /** The names of the endpoint's settings, for error messages. */
  settings?: SettingNames;
  now?: () => number;
}

/**
 * Sends one request to a model and returns its outcome. It never throws for what the model, its server or the network did, and it
 * does not retry, because the run decides about retries. Only a request that a server refuses for its form is sent again in the other
 * form, if `mayAskAgain` is set; `model_calls` is then 2.
 */
export async function askModel(request: ModelRequest, options: AskOptions): Promise<ModelOutcome> {
  const startedAt = Date.now();
  const outcome = await askOnce(request, options);
  publishModelCall(options.model, request, outcome, startedAt);
  return outcome;
}

async function askOnce(request: ModelRequest, options: AskOptions): Promise<ModelOutcome> {
  const { model, now = Date.now, signal } = options;
  const redact = redactSecretsOf(model, options.redact ?? createRedactor());
  const own = maskSecretsOf(model);
  const mask = options.maskKnown === undefined ? own : redactSecretsOf(model, options.maskKnown);
  const startedAt = now();
  const duration = (): number => Math.max(0, now() - startedAt);
  let model_calls = 1;
  const counted = () => (model_calls === 1 ? {} : { model_calls });
  const fail = (how: Failure): ModelFailed => ({ ...failed(how, { redact, own }, duration()), ...counted() });

  const prompt = {
    ...request,
    instructions: mask(request.instructions),
    messages: joinNeighbours(maskMessages(request.messages, mask)),
  };
  const refused = checkRequest(prompt);
  if (refused !== null)
    return fail({ category: 'invalid_input', certainty: 'not_started', usage: NOTHING, ...refused });
  const checkOutput = request.output_schema === undefined ? null : createJsonCheck(request.output_schema);
  const names = createToolNames([...request.tools.map(({ name }) => name), ...request.messages.flatMap(toolsIn)]);

  const ask = (tokenParameter: TokenParameter): Promise<Asked> =>
    withDeadline(signal, Math.max(1, request.timeout_ms - duration()), async (abortSignal) => {
      const { generate } = await import('./generate.ts');
      return generate(model, prompt, names, { abortSignal, tokenParameter, onDelta: options.onDelta });
    });
  const parameter = isEndpoint(model) ? chooseTokenParameter(model) : 'max_tokens';
  let asked = await ask(parameter);
  if (asked.kind === 'threw' && isEndpoint(model) && learnTokenParameter(model, parameter, asked.error)) {
    if (options.mayAskAgain === true) {
      model_calls = 2;
      asked = await ask(chooseTokenParameter(model));
    }
  }
  switch (asked.kind) {
    case 'cancelled':
      return { class: 'cancelled', duration_ms: duration() };
    case 'timed_out': {
      const message = `the model gave no answer within ${request.timeout_ms} ms`;
      return fail({ category: 'timeout', error_code: 'TIMEOUT', certainty: 'unknown', message, usage: null });
    }
    case 'threw': {
      const verdict = classifyThrown(asked.error, now());
      const hint = isEndpoint(model) ? setupHint(model, asked.error, options.settings ?? OWN) : '';
      return fail({ ...verdict, hint, usage: verdict.certainty === 'unknown' ? null : NOTHING });
    }
    case 'answered': {
      const usage = readUsage(asked.said, prompt);
      const read = readAnswer(asked.said, prompt, names, checkOutput);
      if (!read.usable) {
        return fail({ ...read, certainty: 'failed', usage, paths: read.problems, text: asked.said.text });
      }
      const state = toProviderState(
        asked.said.state,
        stateSource(model),
        read.calls.map((call) => call.call_id),
      );
      const answer = toAnswer(read, asked.said, usage, duration());
      return { ...answer, ...(state === null ? {} : { state: state as unknown as Json }), ...counted() };
    }
  }
}

/** The usage of a refused request: nothing was generated. */
const NOTHING: ModelUsage = { input_tokens: 0, output_tokens: 0 };

type Failure = Pick<CallFailed, 'category' | 'error_code' | 'certainty' | 'retry_after_ms'> & {
  message: string;
  usage: ModelUsage | null;
  paths?: { path: string }[];
  text?: string;
  /** What to do about it. It is never cut off. */
  hint?: string;
};

function failed(how: Failure, { redact, own }: { redact: Redact; own: Redact }, duration_ms: number): ModelFailed {
  const { category, error_code, certainty, usage, retry_after_ms, paths = [], text = '' } = how;
  const ending = how.hint === undefined || how.hint === '' ? '' : `; ${how.hint}`;
  return {
    class: 'failed',
    certainty,
    origin: 'tool',
    category,
    error_code,
    message_preview: redact(salientLine(how.message)).slice(0, CAP.messagePreviewChars - ending.length) + ending,
    ...(paths.length === 0 ? {} : { paths: paths.slice(0, 10).map(({ path }) => path.slice(0, 120)) }),
    ...defined({ retry_after_ms }),
    ...(text === '' ? {} : { text: own(text.slice(0, ANSWER_CAP.textChars)) }),
    usage,
    duration_ms,
  };
}

const toAnswer = (
  read: Extract<ReadAnswer, { usable: true }>,
  said: Generated,
  usage: ModelUsage,
  duration_ms: number,
): ModelAnswer => ({
  class: 'ok',
  ...(read.text === '' ? {} : { text: read.text }),
  calls: read.calls,
  ...defined({ output: read.output }),
  finish: read.calls.length > 0 ? 'tool_calls' : said.finish === 'other' ? 'other' : 'stop',
  usage,
  model: said.model,
  duration_ms,
});

/** Finds a problem that every provider would refuse, so that the request is not sent. */
function checkRequest(
  request: ModelRequest,
): { error_code: string; message: string; paths: { path: string }[] } | null {
  const { instructions, messages, output_schema } = request;
  const system: Message[] = instructions.trim() === '' ? [] : [{ role: 'system', text: instructions }];
  const [first] = checkTranscript([...system, ...messages]);
  if (first !== undefined) {
    const path = `$.messages[${Math.max(0, first.index - system.length)}]`;
    return { error_code: 'INVALID_TRANSCRIPT', message: `${path}: ${first.message}`, paths: [{ path }] };
  }
  if (output_schema !== undefined && createJsonCheck(output_schema) === null) {
    const message = 'the output schema cannot be read as JSON Schema';
    return { error_code: 'INVALID_OUTPUT_SCHEMA', message, paths: [{ path: '$.output_schema' }] };
  }
  return null;
}

const toolsIn = (message: Message): string[] =>
  message.role === 'assistant' ? message.calls.map((call) => call.tool) : [];

type Asked =
  | { kind: 'answered'; said: Generated }
  | { kind: 'threw'; error: unknown }
  | { kind: 'timed_out' }
  | { kind: 'cancelled' };

/** Stops waiting at the deadline, even for a model that ignores its signal. */
async function withDeadline(
  outer: AbortSignal | undefined,
  ms: number,
  ask: (signal: AbortSignal) => Promise<Generated>,
): Promise<Asked> {
  if (outer?.aborted) return { kind: 'cancelled' };
  const own = new AbortController();
  const listening = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  const ended = new Promise<Asked>((resolve) => {
    timer = setTimeout(() => resolve({ kind: 'timed_out' }), ms);
    outer?.addEventListener('abort', () => resolve({ kind: 'cancelled' }), { signal: listening.signal });
  });
  const answer = ask(own.signal).then(
    (said): Asked => ({ kind: 'answered', said }),
    (error: unknown): Asked => ({ kind: 'threw', error }),
  );
  const first = await Promise.race([answer, ended]);
  clearTimeout(timer);
  listening.abort();
  own.abort();
  return first;
}
