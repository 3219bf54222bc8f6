import type { z } from 'zod';
import { problemsOf } from '../../define/problems.ts';
import type { ApiContext } from '../context.ts';
import { Problem } from '../problem.ts';
import { readJson } from './read-json.ts';

/** More than the longest message takes, even with every character written as an escape. */
export const MESSAGE_BYTES = 128 * 1024;

/** The body as its schema wants it, or each mistake by its path. */
export async function readBody<T extends z.ZodType>(
  c: ApiContext,
  schema: T,
  maxBytes = MESSAGE_BYTES,
): Promise<z.infer<T>> {
  return checked(schema, await readJson(c, maxBytes));
}

export function checked<T extends z.ZodType>(schema: T, body: unknown): z.infer<T> {
  const parsed = schema.safeParse(body);
  if (parsed.success) return parsed.data;
  const known = 'shape' in schema ? Object.keys(schema.shape as object) : [];
  const errors = problemsOf(parsed.error, '$', (path) => (path.length === 0 ? known : []));
  throw new Problem('bad_request', 'Correct the named fields and send it again.', { errors });
}
