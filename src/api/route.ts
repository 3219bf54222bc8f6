import type { z } from 'zod';
import type { Role } from './access.ts';
import type { ApiContext, ApiDeps } from './context.ts';
import type { ProblemCode } from './problem.ts';
import type { SchemaName } from './schemas/all-schemas.ts';

/** One answer that says yes. */
export interface Answer {
  status: 200 | 201 | 202 | 204;
  description: string;
  /** Of a JSON answer, or of each event of a stream. */
  schema?: SchemaName;
  /** Of an answer that is no JSON. */
  media?: string;
}

/** One row of the table: the door is built from these alone, so no route can be without a word on who may use it. */
export interface Route {
  method: 'get' | 'post';
  /** As OpenAPI writes it: `/v1/runs/{run_id}`. */
  path: string;
  /** The weakest role that may; null needs no token. */
  role: Role | null;
  summary: string;
  /** Parts of the path that are no ordinary ids. */
  params?: Record<string, z.ZodType>;
  query?: z.ZodObject;
  body?: SchemaName;
  headers?: { name: string; description: string }[];
  answer: Answer;
  moreAnswers?: Answer[];
  /** Beside those that every route with a token, a query or a body has. */
  problems?: ProblemCode[];
  /** How long an answer may take before the caller is told that none came. Default 15 s. */
  deadlineMs?: number;
  handle(c: ApiContext, deps: ApiDeps): Response | Promise<Response>;
}
