import { z } from 'zod';
import { problemsOf } from '../define/zod-problems.ts';
import type { Json } from '../protocol/json.ts';
import type { RequestProblem } from '../protocol/run.ts';

/** What is wrong with a value; nothing when it fits. */
export type JsonCheck = (value: unknown) => RequestProblem[];

/** Returns a check for a JSON Schema, or null if the schema cannot be read. */
export function createJsonCheck(schema: Json): JsonCheck | null {
  try {
    const parsed = z.fromJSONSchema(schema as Parameters<typeof z.fromJSONSchema>[0]);
    return (value) => {
      const checked = parsed.safeParse(value);
      return checked.success ? [] : problemsOf(checked.error);
    };
  } catch {
    return null;
  }
}

/** JSON from what a model wrote; also where it put it into a code fence. undefined when it is none. */
export function jsonFromText(text: string): Json | undefined {
  for (const candidate of [text, FENCE.exec(text.trim())?.groups?.['inside']]) {
    if (candidate === undefined) continue;
    try {
      return JSON.parse(candidate) as Json;
    } catch {
      // The next candidate may be valid.
    }
  }
  return undefined;
}

const FENCE = /^```(?:json)?\n(?<inside>[^]*)\n```$/;

export const describeProblems = (problems: RequestProblem[]): string =>
  problems
    .slice(0, 5)
    .map((problem) => `${problem.path}: ${problem.message}`)
    .join('; ');
