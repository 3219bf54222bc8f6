import { z } from 'zod';
import { problemsOf } from '../define/problems.ts';
import type { Json } from '../protocol/json.ts';
import { jsonCheckOf } from './json-check.ts';

/** The JSON Schema of a zod schema, as a model is asked with it: what goes in, before transforms and defaults. */
export const jsonSchemaOf = (schema: z.ZodType): Json =>
  z.toJSONSchema(schema, { unrepresentable: 'any', io: 'input' }) as unknown as Json;

/** Why a model cannot be asked for this output, with what to do; null when it can. */
export function problemOfOutputSchema(output: z.ZodType): string | null {
  try {
    if (jsonCheckOf(jsonSchemaOf(output)) !== null) return null;
    return 'output cannot be checked as JSON Schema: use plain objects, lists, texts, numbers and unions';
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    return `output cannot be written as JSON Schema (${why}): use schemas that z.toJSONSchema takes`;
  }
}

/** What a model's answer breaks of its schema, in a sentence; null when it fits. Refinements may wait, and may throw. */
export async function problemOfOutput(schema: z.ZodType, output: Json): Promise<string | null> {
  try {
    const parsed = await schema.safeParseAsync(output);
    if (parsed.success) return null;
    const [first] = problemsOf(parsed.error);
    return `${first?.path ?? '$'}: ${first?.message ?? 'does not fit'}`;
  } catch (error) {
    return `$: its check threw: ${error instanceof Error ? error.message : String(error)}`;
  }
}
