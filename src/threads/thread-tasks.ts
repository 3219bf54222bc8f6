import { createHash } from 'node:crypto';
import { detectFeedback } from '../core/feedback/detect.ts';
import type { Detection } from '../core/feedback/types.ts';
import { canonicalJson } from '../protocol/ids.ts';
import type { Json } from '../protocol/json.ts';
import { shorten } from './shorten-json.ts';

/** The canonical form of a JSON text, and the artifact id that follows from it. */
export interface JsonDigest {
  artifact_id: string;
  bytes: Uint8Array;
}

function digestValue(value: Json): JsonDigest {
  const bytes = new TextEncoder().encode(canonicalJson(value));
  return { artifact_id: createHash('sha256').update(bytes).digest('hex'), bytes };
}

/** Everything that can run in the thread. Each task is a plain function, so small values can be handled in place. */
export const TASKS = {
  digestJson: (text: string): JsonDigest => digestValue(JSON.parse(text) as Json),
  detectFeedback: (text: string): Detection => detectFeedback(text),
  /** Shortens a JSON text to a number of bytes; null if it cannot be made that short. */
  shortenJson: (text: string, maxBytes = 0): string | null => {
    const shorter = shorten(JSON.parse(text) as Json, maxBytes);
    return shorter === null ? null : JSON.stringify(shorter);
  },
} as const;

export type TaskName = keyof typeof TASKS;
export type TaskResult<Name extends TaskName> = ReturnType<(typeof TASKS)[Name]>;

export interface TaskRequest {
  id: number;
  name: TaskName;
  text: string;
  maxBytes?: number | undefined;
}

export type TaskReply = { id: number; result: TaskResult<TaskName> } | { id: number; error: string };
