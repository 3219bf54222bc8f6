import { redactShown } from '../core/redaction/shown.ts';
import type { ApiContext } from './api-context.ts';

/** Replaces `c.json`, whose type computation does not end for values that contain any JSON. */
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

/** `next_cursor` is present only if there are more items. */
export const page = (cursor: string | null): { next_cursor?: string } =>
  cursor === null ? {} : { next_cursor: cursor };
