import { isId, sha256Hex } from '../../protocol/ids.ts';
import type { ApiContext } from '../context.ts';
import { Problem, type ProblemCode } from '../problem.ts';

/** No run can have another kind of id, so nobody needs to be asked. */
export const runIdOf = (c: ApiContext): string =>
  idOf(c, 'run_id', 'run_not_found', 'This is not the id of a run. Check the id.');

export function idOf(c: ApiContext, name: string, problem: ProblemCode, detail: string): string {
  const id = c.req.param(name);
  if (isId(id)) return id;
  throw new Problem(problem, detail);
}

const KEY = /^[\x21-\x7e]{1,200}$/;
export const IDEMPOTENCY_KEY = {
  name: 'Idempotency-Key',
  description: 'The same key with the same body is the same request, however often it is sent; with another body 422.',
};

/** A key belongs to the token that shows it: two clients that both count from 1 do not meet. */
export function idempotencyKey(c: ApiContext): string | undefined {
  const key = c.req.header('idempotency-key');
  if (key === undefined) return undefined;
  if (KEY.test(key)) return sha256Hex(`${sha256Hex(c.get('grant').token)}:${c.req.path}:${key}`);
  const message = 'expected 1 to 200 visible ASCII characters';
  throw new Problem('bad_request', 'Correct the header Idempotency-Key or leave it out.', {
    errors: [{ path: 'Idempotency-Key', message }],
  });
}

const underWay = new Set<string>();

/** While a request is under way, nobody can say yet what its repetition gets. */
export async function once<T>(key: string | undefined, work: () => Promise<T>): Promise<T> {
  if (key === undefined) return work();
  if (underWay.has(key)) {
    throw new Problem('idempotency_in_flight', 'Wait for its answer, or send it again in a second.', {
      headers: { 'retry-after': '1' },
    });
  }
  underWay.add(key);
  try {
    return await work();
  } finally {
    underWay.delete(key);
  }
}
