import { readFile } from 'node:fs/promises';
import { text } from 'node:stream/consumers';
import type { z } from 'zod';
import { SecondwindError } from '../protocol/errors.ts';
import { problemsOf } from '../define/zod-problems.ts';
import type { Json } from '../protocol/json.ts';
import { policyKeysAt } from '../protocol/policy.ts';
import type { RequestProblem } from '../protocol/run.ts';
import { planSchema, type Plan } from '../protocol/schemas/plan.ts';
import { policyPatchSchema, type PolicyPatch } from '../protocol/schemas/policy.ts';

export const readPolicy = (file: string): Promise<PolicyPatch> => readInput(file, policyPatchSchema, policyKeysAt);

export const readPlan = (file: string): Promise<Plan> => readInput(file, planSchema);

/** Reads a JSON file and checks it with a schema. Problems are reported with their JSON paths. */
async function readInput<T>(
  file: string,
  schema: z.ZodType<T>,
  knownKeys?: (path: PropertyKey[]) => string[],
): Promise<T> {
  const parsed = schema.safeParse(parseJson(file, await readFileText(file)));
  if (parsed.success) return parsed.data;
  throw badInput(file, problemsOf(parsed.error, '$', knownKeys));
}

/** Reads JSON from an argument, or from a file if the argument is `@file`. */
export async function readJson(given: string): Promise<Json> {
  const file = given.startsWith('@') ? given.slice(1) : undefined;
  return parseJson(file ?? 'The JSON', file === undefined ? given : await readFileText(file)) as Json;
}

/** Returns the text of an argument, or reads it from a file; `-` is stdin. */
export async function readText(given: string | undefined, file?: string, named = 'a text'): Promise<string> {
  if (given !== undefined) return given;
  if (file === undefined) {
    throw new SecondwindError('bad_usage', `${named} is missing.`, 'Add it. `--help` shows all options.');
  }
  return file === '-' ? text(process.stdin) : readFileText(file);
}

export function readWhole(name: string, given: string, least: number, most: number): number {
  const value = /^\d{1,9}$/.test(given) ? Number(given) : Number.NaN;
  if (value >= least && value <= most) return value;
  const wrong = `${name} ${given} is invalid: expected a whole number from ${least} to ${most}.`;
  throw new SecondwindError('bad_usage', wrong, 'Correct it and try again.');
}

async function readFileText(file: string): Promise<string> {
  return readFile(file, 'utf8').catch((error: unknown) => {
    const why = error instanceof Error && 'code' in error ? String(error.code) : String(error);
    throw new SecondwindError('bad_usage', `${file} cannot be read (${why}).`, 'Correct the path.', error);
  });
}

export function badInput(what: string, problems: RequestProblem[]): SecondwindError {
  const told = problems.map(({ path, message }) => `${path}: ${message}`).join('; ');
  return new SecondwindError('bad_usage', `${what} is invalid: ${told}.`, 'Correct it and try again.');
}

function parseJson(file: string, given: string): unknown {
  try {
    return JSON.parse(given);
  } catch (error) {
    const said = error instanceof Error ? error.message : String(error);
    throw new SecondwindError('bad_usage', `${file} is not JSON (${said}).`, 'Correct the file.', error);
  }
}
