/** What a transcript says, one thing after the other. Every format is read into these. */
export type TranscriptEvent =
  /** `id` pairs a call with its result. Without ids, a result belongs to the latest call that has none. */
  | { type: 'call'; id: string | null; tool: string; input: unknown }
  | { type: 'result'; id: string | null; output: unknown; error?: boolean | undefined }
  /** A person wrote something. */
  | { type: 'user' }
  /** Output tokens of a model. Several records of one message have one `message_id` and are counted once. */
  | { type: 'tokens'; message_id: string | null; output: number };

export const FORMATS = [
  'claude-code',
  'codex',
  'openhands',
  'swe-agent',
  'mini-swe-agent',
  'openai-chat',
  'openai-responses',
  'ai-sdk',
  'langchain',
  'opentelemetry',
  'magentic-one',
  'pi',
  'secondwind',
] as const;
export type Format = (typeof FORMATS)[number];

/** One record of a transcript that was recognized. */
export interface ReadRecord {
  format: Format;
  events: TranscriptEvent[];
}

/** Reads one record, or returns null if it has another shape. */
export type RecordReader = (record: Fields, list: string | null) => ReadRecord | null;

export type Fields = Record<string, unknown>;

export const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
export const fieldsOf = (value: unknown): Fields => (isFields(value) ? value : {});
export const listOf = (value: unknown): unknown[] => (Array.isArray(value) ? (value as unknown[]) : []);
export const textOf = (value: unknown): string | null => (typeof value === 'string' ? value : null);

/** Arguments are JSON in some formats and a string with JSON in others. */
export const parseArguments = (value: unknown): unknown => {
  if (typeof value !== 'string') return value ?? null;
  try {
    return JSON.parse(value) as unknown;
  } catch {
    return value;
  }
};

/** The text of a content that is a string, or a list of parts. */
export const contentText = (content: unknown): string => {
  if (typeof content === 'string') return content;
  if (isFields(content)) return textOf(content['text']) ?? textOf(content['content']) ?? JSON.stringify(content);
  return listOf(content)
    .map((part) => contentText(part))
    .join('\n');
};

export const tokensEvent = (usage: unknown, id: unknown): TranscriptEvent[] => {
  const { output_tokens, completion_tokens, output, outputTokens } = fieldsOf(usage);
  const count = [output_tokens, completion_tokens, outputTokens, output].find((value) => typeof value === 'number');
  return typeof count === 'number' ? [{ type: 'tokens', message_id: textOf(id), output: count }] : [];
};
