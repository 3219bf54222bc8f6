import type { Message } from '../core/transcript/message.ts';
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

/** What a model may send back at most. */
export const ANSWER_CAP = {
  /** Of one HTTP answer, whatever is in it. */
  bodyBytes: 16 * 1024 * 1024,
  textChars: 1024 * 1024,
  calls: 64,
} as const;
