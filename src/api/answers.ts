import { redactShown } from '../core/redaction/shown.ts';
import type { ApiContext } from './context.ts';

/** Not by `c.json`, which works the type of the value out to its last leaf: JSON inside JSON has none. */
export const answerJson = (
  c: ApiContext,
  value: object,
  status: 200 | 201 | 202 = 200,
  headers: Record<string, string> = {},
): Response =>
  c.body(JSON.stringify(redactShown(value, c.get('redact'))), status, {
    'content-type': 'application/json',
    ...headers,
  });

/** There is a cursor exactly when there is more. */
export const page = (cursor: string | null): { next_cursor?: string } =>
  cursor === null ? {} : { next_cursor: cursor };
