import { z } from 'zod';
import { problemsOf } from '../define/zod-problems.ts';
import type { Json } from '../protocol/json.ts';

/** The JSON Schema of a zod schema, as a model is asked with it: what goes in, before transforms and defaults. */
export const toJsonSchema = (schema: z.ZodType): Json =>
  z.toJSONSchema(schema, { unrepresentable: 'any', io: 'input' }) as unknown as Json;

/** What a model's answer breaks of its schema, in a sentence; null when it fits. Refinements may wait, and may throw. */
export async function checkOutput(schema: z.ZodType, output: Json): Promise<string | null> {
  try {
    const parsed = await schema.safeParseAsync(output);
    if (parsed.success) return null;
    const [first] = problemsOf(parsed.error);
    return `${first?.path ?? '$'}: ${first?.message ?? 'does not match'}`;
  } catch (error) {
    return `$: its check threw: ${error instanceof Error ? error.message : String(error)}`;
  }
}
