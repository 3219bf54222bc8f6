import type { z } from 'zod';
import type { RateLimit, Role } from './access.ts';
import type { ApiContext, ApiDeps } from './api-context.ts';
import type { ProblemCode } from './problem.ts';
import type { SchemaName } from './schemas/all-schemas.ts';

/** One successful answer of a route. */
export interface Answer {
  status: 200 | 201 | 202 | 204;
  description: string;
  /** The schema of a JSON answer, or of each event of a stream. */
  schema?: SchemaName;
  /** The media type of an answer that is not JSON. */
  media?: string;
}

/** One row of the route table. The API is built only from this table, so every route declares its role. */
export interface Route {
  method: 'get' | 'post' | 'put';
  /** The path in OpenAPI syntax: `/v1/runs/{run_id}`. */
  path: string;
  /** The weakest role that may use the route; null if it needs no token. */
  role: Role | null;
  summary: string;
  /** Schemas of path parameters that are not ordinary ids. */
  params?: Record<string, z.ZodType>;
  query?: z.ZodObject;
  body?: SchemaName;
  headers?: { name: string; description: string }[];
  answer: Answer;
  moreAnswers?: Answer[];
  /** Problems of this route, in addition to those of every route with a token, a query or a body. */
  problems?: ProblemCode[];
  /** The longest that an answer may take. Default: 15 s. */
  deadlineMs?: number;
  /** How many requests one token may send to this route. Default: the limit that all other routes share. */
  rateLimit?: RateLimit;
  handle(c: ApiContext, deps: ApiDeps): Response | Promise<Response>;
}
