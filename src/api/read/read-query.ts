import type { z } from 'zod';
import { problemsOf } from '../../define/problems.ts';
import type { ApiContext } from '../context.ts';
import { Problem } from '../problem.ts';

/** The parameters after the question mark, each checked; one that nobody knows is a typo, and is told so. */
export function readQuery<T extends z.ZodObject>(c: ApiContext, schema: T): z.infer<T> {
  const given: Record<string, unknown> = {};
  for (const [name, values] of Object.entries(c.req.queries())) {
    if (values.length > 1) throw bad([{ path: name, message: 'given more than once' }]);
    given[name] = values[0];
  }
  const parsed = schema.safeParse(given);
  if (parsed.success) return parsed.data;
  const known = Object.keys(schema.shape);
  throw bad(
    problemsOf(parsed.error, '', () => known).map(({ path, message }) => ({ path: path.replace(/^\./, ''), message })),
  );
}

const bad = (errors: { path: string; message: string }[]): Problem =>
  new Problem('bad_request', 'Correct the named parameters of the address.', { errors });
