import type { Role } from '../config/roles.ts';
import type { ApiContext, ApiDeps } from './context.ts';
import type { ProblemCode } from './problem.ts';
import type { SchemaName } from './schemas.ts';

/** One row of the table: the door is built from these alone, so no route can be without a word on who may use it. */
export interface Route {
  method: 'get' | 'post';
  /** As OpenAPI writes it: `/v1/runs/{run_id}`. */
  path: string;
  /** The weakest role that may; null needs no token. */
  role: Role | null;
  summary: string;
  body?: SchemaName;
  headers?: { name: string; description: string }[];
  answer: { status: 200 | 201; description: string; schema: SchemaName };
  /** Beside those that every route with a token or a body has. */
  problems?: ProblemCode[];
  /** How long an answer may take before the caller is told that none came. Default 15 s. */
  deadlineMs?: number;
  handle(c: ApiContext, deps: ApiDeps): Response | Promise<Response>;
}
