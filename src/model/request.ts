import type { Message } from '../core/transcript/message.ts';
import { isEndpoint, type ModelSource } from '../define/model-source.ts';
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

/** Whether an endpoint is told the output schema in words, because it takes none in its request. */
export const isToldInWords = (source: ModelSource): boolean =>
  isEndpoint(source) && source.structured_output === 'json_object';

/** Returns the system message as it is sent: the agent's instructions and, where needed, the output schema in words. */
export const sentInstructions = (
  { instructions, output_schema }: Pick<ModelRequest, 'instructions' | 'output_schema'>,
  source: ModelSource,
): string =>
  isToldInWords(source) && output_schema !== undefined
    ? `${instructions}\n\nAnswer with JSON only. It must follow this JSON Schema: ${JSON.stringify(output_schema)}`
    : instructions;

/** What a model may send back at most. */
export const ANSWER_CAP = {
  /** The most bytes of one HTTP answer. */
  bodyBytes: 16 * 1024 * 1024,
  textChars: 1024 * 1024,
  calls: 64,
} as const;
