import type { Message } from '../../core/transcript/message.ts';
import type { Json } from '../../protocol/json.ts';

/** The behaviour of the model: a list of turns, or a function of each request. */
export type Script = readonly ScriptedTurn[] | ((request: ScriptedRequest) => ScriptedTurn | Promise<ScriptedTurn>);

export type ScriptedTurn = AnswerTurn | FaultTurn;

/** An answer with text, tool calls (several run in parallel), or JSON. */
export interface AnswerTurn {
  text?: string;
  calls?: ScriptedCall[];
  json?: Json;
  /** Default: estimated from the number of characters. */
  usage?: Partial<ScriptedUsage>;
  finish?: Finish;
  /** Keeps the answer open: a stream stops after its text and its calls until this resolves, and any other answer waits for it. */
  hold?: () => Promise<unknown>;
  fault?: undefined;
}
export interface ScriptedCall {
  tool: string;
  input?: Json;
  /** The arguments as raw text, instead of `input`. */
  arguments?: string;
  /** Default: `call_<n>`. */
  id?: string;
}
export interface ScriptedUsage {
  inputTokens: number;
  outputTokens: number;
}
export type Finish = 'stop' | 'tool_calls' | 'length' | 'content_filter';

/** Faults of a model or of the connection to it. */
export type FaultTurn = { usage?: Partial<ScriptedUsage> } & (
  | { fault: 'rate_limit'; retryAfterSeconds?: number }
  | { fault: 'server_error'; status?: number }
  /** Any other error status: 401 with `invalid_api_key`, 429 with `insufficient_quota`. */
  | { fault: 'http_error'; status: number; code?: string; message?: string; headers?: Record<string, string> }
  /** The connection breaks in the middle of the answer. */
  | { fault: 'cut_stream'; text?: string }
  /** No answer until the caller gives up or the server closes. */
  | { fault: 'hang' }
  | { fault: 'bad_json'; body?: string }
  /** `filter`: the provider's filter ended the answer, not the model. */
  | { fault: 'refusal'; text?: string; filter?: boolean }
  /** Calls a declared tool (default: the first) with arguments that do not fit its schema. */
  | { fault: 'wrong_arguments'; tool?: string; arguments?: string }
  | { fault: 'invented_tool'; tool?: string }
  /** Repeats the last call of the conversation; `sameId` repeats its id too. */
  | { fault: 'repeated_call'; sameId?: boolean }
  | { fault: 'empty' }
  | { fault: 'context_length' }
  /** 400 for an unsupported request parameter (default: `max_tokens`), with the one to use instead. */
  | { fault: 'unsupported_parameter'; parameter?: string; instead?: string }
  /** Cut off at the token limit. */
  | { fault: 'length'; text?: string }
);

/** A request to the model, from HTTP or in-process. */
export interface ScriptedRequest {
  /** 0 for the first request that reaches the script. */
  index: number;
  model: string;
  messages: Message[];
  tools: ScriptedTool[];
  /** Whether tools may or must be called; `none` in the last turn of a run. */
  toolChoice: 'auto' | 'none' | 'required' | { tool: string };
  /** The JSON Schema of the answer; `true` for any JSON. */
  output: Json;
  maxOutputTokens: number | null;
  /** Which parameter carried the cap; null for in-process requests. */
  maxOutputTokensName: 'max_tokens' | 'max_completion_tokens' | null;
  stream: boolean;
}
export interface ScriptedTool {
  name: string;
  description: string;
  parameters: Json;
}

/** The model's reply, independent of how it is sent. */
export type Reply =
  | ScriptedAnswer
  | { kind: 'cut'; answer: ScriptedAnswer }
  | { kind: 'hang' }
  | { kind: 'bad_json'; body: string }
  | ErrorReply;
export interface ScriptedAnswer {
  kind: 'answer';
  text: string | null;
  refusal: string | null;
  calls: AnswerCall[];
  finish: Finish;
  usage: ScriptedUsage;
  hold?: () => Promise<unknown>;
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
