import type { LanguageModel } from 'ai';
import type { Message } from '../core/transcript/index.ts';
import type { Json } from '../protocol/json.ts';

/** One question to a model. */
export interface ModelRequest {
  instructions: string;
  /** Without a system message: that is what the instructions are. */
  messages: readonly Message[];
  tools: readonly ToolDeclaration[];
  /** `none`: they are declared, because providers refuse results of tools that are not, and none may be called. */
  tool_choice?: 'none';
  /** JSON Schema of the answer, where it must be JSON. */
  output_schema?: Json;
  max_output_tokens: number;
  timeout_ms: number;
}
export interface ToolDeclaration {
  name: string;
  description: string;
  /** JSON Schema. */
  input_schema: Json;
}

/** An address that speaks the chat completions of OpenAI. */
export interface ModelEndpoint {
  base_url: string;
  api_key?: string;
  model: string;
  /** Servers that know no `json_schema` get the schema in words and `json_object`. */
  structured_output?: 'json_schema' | 'json_object';
  /** Sent with every question, beside the key. */
  headers?: Record<string, string>;
  /** Members of every question's body, such as `reasoning_effort`; they win over ours. */
  body?: Record<string, Json>;
}

/** A model object of the AI SDK, from whichever provider. */
export type ModelObject = Exclude<LanguageModel, string>;
export type ModelSource = ModelEndpoint | ModelObject;

export const isEndpoint = (source: ModelSource): source is ModelEndpoint => 'base_url' in source;

/** What a model may send back at most. */
export const ANSWER_LIMIT = {
  /** Of one HTTP answer, whatever is in it. */
  bodyBytes: 16 * 1024 * 1024,
  textChars: 1024 * 1024,
  calls: 64,
} as const;
