import type { Message } from '../../core/transcript/message.ts';
import type { Json } from '../../protocol/json.ts';

/** What the model is to do: turns in order, or a function of what it is asked. */
export type Script = readonly ScriptedTurn[] | ((request: ScriptedRequest) => ScriptedTurn | Promise<ScriptedTurn>);

export type ScriptedTurn = AnswerTurn | FaultTurn;

/** Says something, calls tools (several calls are side by side), or answers with JSON. */
export interface AnswerTurn {
  text?: string;
  calls?: ScriptedCall[];
  json?: Json;
  /** Counted from the characters when it is not given. */
  usage?: Partial<ScriptedUsage>;
  finish?: Finish;
  fault?: undefined;
}
export interface ScriptedCall {
  tool: string;
  input?: Json;
  /** The arguments as the model wrote them, in place of `input`. */
  arguments?: string;
  /** `call_<n>` when it is not given. */
  id?: string;
}
export interface ScriptedUsage {
  inputTokens: number;
  outputTokens: number;
}
export type Finish = 'stop' | 'tool_calls' | 'length' | 'content_filter';

/** What goes wrong with models and on the way to them. */
export type FaultTurn = { usage?: Partial<ScriptedUsage> } & (
  | { fault: 'rate_limit'; retryAfterSeconds?: number }
  | { fault: 'server_error'; status?: number }
  /** Any other answer with an error status: 401 with `invalid_api_key`, 429 with `insufficient_quota`. */
  | { fault: 'http_error'; status: number; code?: string; message?: string; headers?: Record<string, string> }
  /** The connection breaks in the middle of the answer. */
  | { fault: 'cut_stream'; text?: string }
  /** No answer, until the caller gives up or the server closes. */
  | { fault: 'hang' }
  | { fault: 'bad_json'; body?: string }
  /** `filter`: ended by the provider's filter, not by the model's own words. */
  | { fault: 'refusal'; text?: string; filter?: boolean }
  /** A declared tool (the first, unless named), with arguments that do not fit its schema. */
  | { fault: 'wrong_arguments'; tool?: string; arguments?: string }
  | { fault: 'invented_tool'; tool?: string }
  /** The last call of the conversation once more; `sameId` repeats its id too. */
  | { fault: 'repeated_call'; sameId?: boolean }
  | { fault: 'empty' }
  | { fault: 'context_length' }
  /** 400 for a member of the request that the model does not take; `max_tokens` unless named, and what to send instead. */
  | { fault: 'unsupported_parameter'; parameter?: string; instead?: string }
  /** Cut at the token limit. */
  | { fault: 'length'; text?: string }
);

/** What the model was asked, whichever way it came. */
export interface ScriptedRequest {
  /** 0 for the first request that the script gets to see. */
  index: number;
  model: string;
  messages: Message[];
  tools: ScriptedTool[];
  /** Whether tools may or must be called: `none` in the last turn of a run. */
  toolChoice: 'auto' | 'none' | 'required' | { tool: string };
  /** The JSON Schema that the answer must follow; `true` for any JSON. */
  output: Json;
  maxOutputTokens: number | null;
  /** What the cap was called; null in process, where it has no name. */
  maxOutputTokensName: 'max_tokens' | 'max_completion_tokens' | null;
  stream: boolean;
}
export interface ScriptedTool {
  name: string;
  description: string;
  parameters: Json;
}

/** What the model does with a request, before it is put into the words of one way to reach it. */
export type Reply =
  | Answer
  | { kind: 'cut'; answer: Answer }
  | { kind: 'hang' }
  | { kind: 'bad_json'; body: string }
  | ErrorReply;
export interface Answer {
  kind: 'answer';
  text: string | null;
  refusal: string | null;
  calls: AnswerCall[];
  finish: Finish;
  usage: ScriptedUsage;
}
export interface AnswerCall {
  id: string;
  tool: string;
  arguments: string;
}
export interface ErrorReply {
  kind: 'error';
  status: number;
  code: string;
  type: string;
  message: string;
  headers: Record<string, string>;
}
