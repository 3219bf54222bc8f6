import type { LanguageModel } from 'ai';
import type { Json } from '../protocol/json.ts';

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
