/** Names of attributes: those of OpenTelemetry's GenAI conventions if there is one, else ours. */
export const GEN_AI = {
  operation: 'gen_ai.operation.name',
  agent: 'gen_ai.agent.name',
  conversation: 'gen_ai.conversation.id',
  provider: 'gen_ai.provider.name',
  requestModel: 'gen_ai.request.model',
  maxTokens: 'gen_ai.request.max_tokens',
  responseModel: 'gen_ai.response.model',
  finishReasons: 'gen_ai.response.finish_reasons',
  inputTokens: 'gen_ai.usage.input_tokens',
  outputTokens: 'gen_ai.usage.output_tokens',
  cachedTokens: 'gen_ai.usage.cache_read.input_tokens',
  tool: 'gen_ai.tool.name',
  toolCall: 'gen_ai.tool.call.id',
  toolArguments: 'gen_ai.tool.call.arguments',
  toolResult: 'gen_ai.tool.call.result',
  instructions: 'gen_ai.system_instructions',
  inputMessages: 'gen_ai.input.messages',
  outputMessages: 'gen_ai.output.messages',
} as const;

export const ERROR_TYPE = 'error.type';
export const SERVER_ADDRESS = 'server.address';

export const SECONDWIND = {
  run: 'secondwind.run_id',
  loop: 'secondwind.loop_id',
  step: 'secondwind.step_id',
  turn: 'secondwind.turn',
  attempt: 'secondwind.attempt',
  fingerprint: 'secondwind.fingerprint',
  guidedBy: 'secondwind.guidance.fingerprints',
  category: 'secondwind.failure_category',
  signal: 'secondwind.signal_type',
  outcome: 'secondwind.outcome',
  reason: 'secondwind.reason',
  message: 'secondwind.message',
} as const;

/** The names that Temporal's tracing uses in other languages. */
export const TEMPORAL = {
  workflow: 'temporalWorkflowID',
  run: 'temporalRunID',
  activity: 'temporalActivityID',
} as const;

export const FAILURE_EVENT = 'secondwind.failure';
