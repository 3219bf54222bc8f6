import { readFile } from 'node:fs/promises';
import type { z } from 'zod';
import { SecondwindError } from '../client/errors.ts';
import { problemsOf } from '../define/problems.ts';
import type { RequestProblem } from '../protocol/run.ts';
import { planSchema, type Plan } from '../protocol/schemas/plan.ts';
import { policyPatchSchema, policySchema, type PolicyPatch } from '../protocol/schemas/policy.ts';

export const readPolicy = (file: string): Promise<PolicyPatch> =>
  readInput(file, policyPatchSchema, ([part, ...rest]) => {
    if (part === undefined) return Object.keys(policySchema.shape);
    const inner = policySchema.shape[part as keyof typeof policySchema.shape];
    return rest.length === 0 && 'shape' in inner ? Object.keys(inner.shape) : [];
  });

export const readPlan = (file: string): Promise<Plan> => readInput(file, planSchema);

/** What a file of the user's holds, or what is wrong with it by JSON path. */
async function readInput<T>(
  file: string,
  schema: z.ZodType<T>,
  knownKeys?: (path: PropertyKey[]) => string[],
): Promise<T> {
  const text = await readFile(file, 'utf8').catch((error: unknown) => {
    const why = error instanceof Error && 'code' in error ? String(error.code) : String(error);
    throw new SecondwindError('bad_usage', `${file} cannot be read (${why}).`, 'Correct the path.', error);
  });
  const parsed = schema.safeParse(parseJson(file, text));
  if (parsed.success) return parsed.data;
  throw badInput(file, problemsOf(parsed.error, '$', knownKeys));
}

export function badInput(what: string, problems: RequestProblem[]): SecondwindError {
  const told = problems.map(({ path, message }) => `${path}: ${message}`).join('; ');
  return new SecondwindError('bad_usage', `${what} is refused: ${told}.`, 'Correct it and try again.');
}

function parseJson(file: string, text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    const said = error instanceof Error ? error.message : String(error);
    throw new SecondwindError('bad_usage', `${file} is not JSON (${said}).`, 'Correct the file.', error);
  }
}
