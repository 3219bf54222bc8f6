import type { Context } from 'hono';
import type { RunsClient } from '../client/index.ts';
import type { Grant } from '../config/roles.ts';

/** What the door needs from the house. */
export interface ApiDeps {
  runs: RunsClient;
  tokens: readonly Grant[];
  /** Each resolves when that part answers. */
  checks: { temporal: () => Promise<unknown>; store: () => Promise<unknown> };
  /** Names beside the loopback ones that a request may be addressed to. */
  allowedHosts?: readonly string[];
  log?: ApiLog;
  version?: string;
}

/** The part of a pino logger that is used here. */
export interface ApiLog {
  error(fields: object, message: string): void;
}

export interface ApiEnv {
  Variables: {
    requestId: string;
    /** The token that was shown; never set on a route that needs none. */
    grant: Grant;
  };
}
export type ApiContext = Context<ApiEnv>;
