import { redactJson, type Redact } from '../core/redaction/redact.ts';
import type { PlannerOutcome, PlannerView } from '../core/run/ports.ts';
import type { AssistantMessage, Message, ProviderState } from '../core/transcript/message.ts';
import type { Agent } from '../define/define-agent.ts';
import { isEndpoint, type ModelSource } from '../define/model-source.ts';
import { canonicalJson, sha256Hex } from '../protocol/ids.ts';
import { defined, type Json } from '../protocol/json.ts';
import { CAP } from '../protocol/caps.ts';
import type { ModelAnswer, ModelFailed } from '../protocol/model.ts';
import type { ModelDeltaPart } from '../protocol/model-delta.ts';
import { toWellFormed } from '../protocol/well-formed-text.ts';
import type { CallFailed } from '../protocol/tools.ts';
import { askModel } from './ask-model.ts';
import { countedBefore, hashHead } from './input-tokens.ts';
import { toJsonSchema, checkOutput } from './output-schema.ts';
import { cleanState } from './provider-state.ts';
import { type ModelRequest, sentInstructions } from './request.ts';
import { maskSecretsOf, redactSecretsOf } from './model-secrets.ts';
import { nameOf, settingNames, resolveModel } from './resolve-model.ts';
import { type NoRoom, reserve, settleUse } from './spending.ts';
import { type Conversation, loadConversation, type MessageStore, saveConversation } from './transcript-store.ts';
import { turnMessages, wellFormed } from './turn-messages.ts';

export interface TurnEnvironment {
  store: MessageStore;
  /** Redacts failure messages, which people read. */
  redact: Redact;
  /** Masks the values of known secrets in what the model is sent. Everything else is sent exactly. */
  maskKnown?: Redact;
  signal: AbortSignal;
  now: () => number;
  environment: Record<string, string | undefined>;
  /** Shows the answer while it arrives. Without it the answer is not streamed. */
  openDeltas?(redact: Redact): TurnDeltas | undefined;
  /** Called right before the model is asked, with the most that the turn may use. */
  reserved?(most: { tokens: number; cost_micro_usd: number }): void;
}

/** Receives the pieces of one turn. */
export interface TurnDeltas {
  push(part: ModelDeltaPart): void;
  /** The turn is over. The end of an incomplete answer is not shown. It never throws. */
  end(isComplete: boolean): Promise<void>;
}

/**
 * Runs one turn of an agent with instructions: builds the conversation from the store and the latest steps, asks the model once, and
 * stores its answer. Failures of the model are returned as an outcome and never thrown.
 */
export async function planTurn(agent: Agent, view: PlannerView, env: TurnEnvironment): Promise<PlannerOutcome> {
  const startedAt = env.now();
  const source = resolveModel(agent.model, env.environment);
  const redact = typeof source === 'string' ? env.redact : redactSecretsOf(source, env.redact);
  const fail = (how: FailedTurn): CallFailed => failed(how, redact, env.now() - startedAt);
  if (typeof source === 'string') {
    return fail({ category: 'auth', error_code: 'MODEL_NOT_SET', certainty: 'not_started', message: source });
  }
  let conversation: Conversation;
  let repair: { text: string; why: string } | null;
  let outputs: ReadonlyMap<string, Json>;
  try {
    conversation = await loadConversation(env.store, view.transcript);
    repair = await loadRepair(env.store, view.repair);
    outputs = await env.store.getMany(storedOutputs(view));
  } catch (error) {
    return fail(storeUnreachable(error));
  }
  const feedback_told = view.feedback.length;
  const { kept, asked } = turnMessages({
    view,
    messages: conversation.messages,
    feedbackTold: conversation.feedback_told,
    repair,
    outputs,
  });
  let request: Omit<ModelRequest, 'max_output_tokens'>;
  try {
    request = buildRequest(agent, view, asked);
  } catch (error) {
    return fail(noJsonSchema(error));
  }
  const reserved = reserve(
    agent,
    nameOf(source),
    view.left,
    request,
    countedBefore(conversation.counted, conversation.messages),
  );
  if ('why' in reserved) return fail(nothingSent(reserved));
  env.reserved?.({ tokens: reserved.tokens, cost_micro_usd: reserved.cost_micro_usd });
  const deltas = isStreamed(source) ? env.openDeltas?.(redact) : undefined;
  const heard = await askModel(
    { ...request, max_output_tokens: reserved.max_output_tokens },
    {
      model: source,
      signal: env.signal,
      redact,
      ...defined({ maskKnown: env.maskKnown }),
      now: env.now,
      mayAskAgain: view.left.turns > 0,
      settings: settingNames(agent.model),
      onDelta: deltas === undefined ? undefined : (part) => deltas.push(part),
    },
  );
  await deltas?.end(heard.class === 'ok');
  if (heard.class === 'cancelled') return heard;
  // Tool calls in the last turn are dropped, because nothing can run any more. The text of the answer is the result.
  const outcome = heard.class === 'ok' && view.last_turn ? { ...heard, calls: [] } : heard;
  const { model_calls } = outcome;
  const used = {
    ...settleUse(agent, nameOf(source), outcome, reserved),
    ...defined({ model_calls }),
  };
  // What the model said goes to tools and to the result exactly; only the endpoint's own key never does.
  const mask = maskSecretsOf(source);
  const sent = { instructions: mask(sentInstructions(request, source)), messages: asked };
  const keepSent = (failure: CallFailed) =>
    withSent(failure, () =>
      saveConversation(env.store, { messages: kept, feedback_told }, conversation.messages, { sent, answered: false }),
    );
  if (outcome.class === 'failed') return { ...(await keepSent(await withRepair(outcome, env.store))), ...used };

  const problem = await checkAnswer(agent, outcome);
  if (problem !== null) {
    const said = outcome.text ?? JSON.stringify(outcome.calls);
    const unusable = fail({ category: 'contract_violation', certainty: 'failed', ...problem });
    return { ...(await keepSent(await withRepair({ ...unusable, text: mask(said) }, env.store))), ...used };
  }
  const messages: Message[] = [...kept, answered(outcome, mask)];
  try {
    const counted = countedNow(outcome, request, nameOf(source));
    const told = { messages, feedback_told, ...defined({ counted: counted ?? undefined }) };
    const transcript = await saveConversation(env.store, told, conversation.messages, { sent, answered: true });
    return { class: 'ok', ...toChoice(outcome, mask), ...used, transcript, duration_ms: env.now() - startedAt };
  } catch (error) {
    return { ...fail(storeUnreachable(error)), ...used };
  }
}

/** An endpoint may be set not to stream. */
const isStreamed = (source: ModelSource): boolean => !isEndpoint(source) || source.stream !== false;

/** The token count of the provider, if it sent one. */
const countedNow = ({ usage }: ModelAnswer, request: Omit<ModelRequest, 'max_output_tokens'>, model: string) =>
  usage.estimated === true ? null : { tokens: usage.input_tokens, head: hashHead(request, model) };

const storedOutputs = (view: PlannerView): string[] =>
  view.steps.flatMap(({ status, output, artifact_id }) =>
    OUTPUT_SHOWN.has(status) && output === undefined && artifact_id !== undefined ? [artifact_id] : [],
  );

/** What a failed call printed is an output too. */
const OUTPUT_SHOWN: ReadonlySet<string> = new Set(['ok', 'failed', 'unknown', 'skipped']);

async function loadRepair(store: MessageStore, id: string | null): Promise<{ text: string; why: string } | null> {
  if (id === null) return null;
  const kept = (await store.getMany([id])).get(id);
  return isRepair(kept) ? kept : null;
}
const isRepair = (kept: unknown): kept is { text: string; why: string } =>
  typeof kept === 'object' && kept !== null && 'text' in kept && 'why' in kept;

/** What could not be used is kept, so that the next attempt can show it to the model that said it. */
async function withRepair(failure: CallFailed & { text?: string }, store: MessageStore): Promise<CallFailed> {
  const { text, usage: _usage, ...rest } = failure as ModelFailed;
  if (text === undefined || text === '') return rest;
  const repair = canonicalJson({ text, why: failure.message_preview });
  const id = sha256Hex(repair);
  try {
    await store.putMany([{ id, text: repair }]);
    return { ...rest, repair: id };
  } catch {
    // Storing the answer is optional: without it the model is only told what was wrong.
    return rest;
  }
}

/** Keeps what a failed turn sent, for people who read the transcript. A request that reached no server was not sent. */
async function withSent(failure: CallFailed, save: () => Promise<string>): Promise<CallFailed> {
  if (failure.certainty === 'not_started') return failure;
  try {
    return { ...failure, sent: await save() };
  } catch {
    // The run does not depend on it.
    return failure;
  }
}

const buildRequest = (
  agent: Agent,
  view: PlannerView,
  messages: Message[],
): Omit<ModelRequest, 'max_output_tokens'> => ({
  instructions: agent.instructions ?? '',
  messages,
  tools: agent.tools.map((tool) => ({
    name: tool.name,
    description: tool.description ?? tool.name,
    input_schema: toJsonSchema(tool.input),
  })),
  ...(view.last_turn ? { tool_choice: 'none' } : {}),
  ...(agent.output === undefined ? {} : { output_schema: toJsonSchema(agent.output) }),
  timeout_ms: view.timeout_ms,
});

/**
 * Refuses calls of undeclared tools and calls with unreadable arguments, which would look like a call without arguments. Arguments
 * that only violate the schema are refused by the tool itself.
 */
async function checkAnswer(
  agent: Agent,
  { calls, output }: ModelAnswer,
): Promise<{ error_code: string; message: string } | null> {
  const invented = calls.find((call) => call.problem?.error_code === 'UNKNOWN_TOOL');
  if (invented?.problem !== undefined) {
    return { error_code: 'UNKNOWN_TOOL', message: invented.problem.message };
  }
  const unreadable = calls.find((call) => call.problem?.error_code === 'UNREADABLE_ARGUMENTS');
  if (unreadable?.problem !== undefined) {
    return { error_code: 'INVALID_ARGUMENTS', message: unreadable.problem.message };
  }
  const tooLarge = calls.find((call) => JSON.stringify(call.input).length > CAP.chosenInputBytes);
  if (tooLarge !== undefined) {
    return { error_code: 'INPUT_TOO_LARGE', message: `the arguments of ${tooLarge.tool} are too large` };
  }
  if (agent.output === undefined || output === undefined) return null;
  const message = await checkOutput(agent.output, output);
  return message === null ? null : { error_code: 'INVALID_OUTPUT', message };
}

/** What is kept has no half characters, which would not come back as they went. */
function answered({ text = '', calls, state }: ModelAnswer, mask: Redact): AssistantMessage {
  const wanted = state === undefined ? null : cleanState(state as unknown as ProviderState, mask);
  return {
    role: 'assistant',
    text: text === '' && calls.length === 0 ? '…' : mask(toWellFormed(text)),
    calls: calls.map(({ call_id, tool, input }) => ({
      call_id,
      tool,
      input: wellFormed(redactJson(input, mask)) as typeof input,
    })),
    ...defined({ state: wanted ?? undefined }),
  };
}

const toChoice = ({ text, calls, output }: ModelAnswer, mask: Redact) => ({
  calls: calls.map(({ call_id, tool, input }) => ({ call_id, tool, input: redactJson(input, mask) })),
  ...(calls.length > 0 ? {} : { output: redactJson(output ?? text ?? null, mask) }),
  ...(text === undefined ? {} : { message: mask(text).slice(0, CAP.textChars) }),
});

type FailedTurn = Pick<CallFailed, 'category' | 'error_code' | 'certainty'> & {
  message: string;
  over_budget?: CallFailed['over_budget'];
};

const failed = ({ message, ...how }: FailedTurn, redact: Redact, duration_ms: number): CallFailed => ({
  class: 'failed',
  origin: 'tool',
  category: how.category,
  error_code: how.error_code,
  certainty: how.certainty,
  ...defined({ over_budget: how.over_budget }),
  message_preview: redact(message).slice(0, CAP.messagePreviewChars),
  duration_ms,
});

/** The schema of a tool or of the output cannot be sent to a model. `defineAgent` may not have checked this agent. */
const noJsonSchema = (error: unknown): FailedTurn => ({
  category: 'invalid_input',
  error_code: 'INVALID_SCHEMA',
  certainty: 'not_started',
  message: `a schema of the agent cannot be written as JSON Schema: ${error instanceof Error ? error.message : ''}`,
});

/** A person can fix this with a larger budget or with a price. */
const nothingSent = ({ budget, why }: NoRoom): FailedTurn => ({
  category: 'quota',
  error_code: budget === null ? 'MODEL_NOT_PRICED' : 'BUDGET',
  certainty: 'not_started',
  message: why,
  ...defined({ over_budget: budget ?? undefined }),
});

const storeUnreachable = (error: unknown): FailedTurn => ({
  category: 'network',
  error_code: 'STORE_UNREACHABLE',
  certainty: 'not_started',
  message: error instanceof Error ? error.message : 'the store is away',
});
