import type { Message } from '../core/transcript/message.ts';
import type { Json } from '../protocol/json.ts';

/** One request to a model. */
export interface ModelRequest {
  instructions: string;
  /** The conversation, without a system message: the instructions take its place. */
  messages: readonly Message[];
  tools: readonly ToolDeclaration[];
  /** `none` forbids calls. The tools stay declared, because providers refuse results of undeclared tools. */
  tool_choice?: 'none';
  /** The JSON Schema of the answer, if it must be JSON. */
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

/** What a model may send back at most. */
export const ANSWER_CAP = {
  /** The most bytes of one HTTP answer. */
  bodyBytes: 16 * 1024 * 1024,
  textChars: 1024 * 1024,
  calls: 64,
} as const;
