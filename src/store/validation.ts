import type { z } from 'zod';
import { StoreInputError } from './store-errors.ts';

/** The first problem, with its path, in words that a person can act on. */
export const firstIssue = (error: z.ZodError): { path: string; reason: string } => {
  const issue = error.issues[0];
  return { path: issue?.path.map(String).join('.') || '(value)', reason: issue?.message ?? 'invalid' };
};

export const parseInput = <T>(schema: z.ZodType<T>, value: unknown): T => {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  const { path, reason } = firstIssue(result.error);
  throw new StoreInputError(path, reason);
};

/** Times are stored in milliseconds, so that a cursor made from one finds its row again. */
export const isoMillis = (time: string | Date): string => {
  const date = new Date(time);
  if (Number.isNaN(date.getTime())) throw new StoreInputError('time', `${String(time)} is not an ISO 8601 time`);
  return date.toISOString();
};
