import type { Context } from 'hono';
import type { TemporalClient } from '../client/temporal/temporal-client.ts';
import type { Grant, RateLimit } from './access.ts';
import type { LoopReport, ReviewReport } from '../core/guardrails/loop-report.ts';
import type { Redact } from '../core/redaction/redact.ts';
import type { Registry } from '../define/registry.ts';
import type { Store } from '../store/store.ts';
import type { Metrics } from './watch/metrics.ts';

/** What the API is made of. Runs and guards are those of `createClient`, as every other caller has them. */
export interface ApiDeps extends TemporalClient {
  store: Store;
  registry: Registry;
  tokens: readonly Grant[];
  /** Each resolves when that part answers. */
  checks: { temporal: () => Promise<unknown>; store: () => Promise<unknown> };
  /** Names beside the loopback ones that a request may be addressed to. */
  allowedHosts?: readonly string[];
  /** Judges loops that are reported without a review. */
  reviewer?: (report: LoopReport) => Promise<ReviewReport>;
  rateLimit?: RateLimit;
  /** Takes secrets out of what goes to the store past Temporal; by default those that patterns know, and the tokens. */
  redact?: Redact;
  log?: ApiLog;
  version?: string;
}

/** The part of a pino logger that is used here. */
export interface ApiLog {
  error(fields: object, message: string): void;
  warn?(fields: object, message: string): void;
}

export interface ApiEnv {
  Variables: {
    requestId: string;
    /** The token that was shown; never set on a route that needs none. */
    grant: Grant;
    redact: Redact;
    metrics: Metrics;
  };
}
export type ApiContext = Context<ApiEnv>;
