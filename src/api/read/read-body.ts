import type { z } from 'zod';
import { problemsOf } from '../../define/problems.ts';
import { type MessageBody, type MessageType, parseMessage } from '../../protocol/messages.ts';
import type { RequestProblem } from '../../protocol/run.ts';
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
  throw refused(problemsOf(parsed.error, '$', (path) => (path.length === 0 ? known : [])));
}

/** The body as a message to a run or a guard, checked by the same function that checks it there. */
export async function readMessage<Type extends MessageType>(c: ApiContext, type: Type): Promise<MessageBody<Type>> {
  const parsed = parseMessage(type, await readJson(c, MESSAGE_BYTES));
  if (!parsed.ok) throw refused(parsed.problems);
  const { type: _type, ...body } = parsed.message;
  return body as unknown as MessageBody<Type>;
}

const refused = (errors: RequestProblem[]): Problem =>
  new Problem('bad_request', 'Correct the named fields and send it again.', { errors });
