import type { LanguageModel } from 'ai';
import type { Json } from '../protocol/json.ts';

/** A server with the chat completions API of OpenAI. */
export interface ModelEndpoint {
  base_url: string;
  api_key?: string;
  model: string;
  /** For servers that do not support `json_schema`: `json_object` puts the schema into the prompt instead. */
  structured_output?: 'json_schema' | 'json_object';
  /** False if the server must not be asked for a stream. The answers are the same; nobody sees them while they arrive. */
  stream?: boolean;
  /** Additional headers of every request. */
  headers?: Record<string, string>;
  /** Additional fields of every request body, such as `reasoning_effort`. They override the fields that Secondwind sets. */
  body?: Record<string, Json>;
}

/** A model object of the AI SDK, from any provider. */
export type ModelObject = Exclude<LanguageModel, string>;
export type ModelSource = ModelEndpoint | ModelObject;

export const isEndpoint = (source: ModelSource): source is ModelEndpoint => 'base_url' in source;
