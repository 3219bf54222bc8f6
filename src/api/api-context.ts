import type { PayloadCodec } from '@temporalio/common';
import type { Context } from 'hono';
import type { TemporalClient } from '../client/temporal/temporal-client.ts';
import type { TokenGrant, RateLimit } from './access.ts';
import type { GuardPolicy } from '../core/guardrails/guard-state.ts';
import type { LoopReport, ReviewReport } from '../core/guardrails/loop-report.ts';
import type { Redact } from '../core/redaction/redact.ts';
import type { Registry } from '../define/registry.ts';
import type { Store } from '../store/store.ts';
import type { GuardSessions } from './guard/guard-sessions.ts';
import type { DashboardFiles } from './dashboard/dashboard-files.ts';
import type { Metrics } from './watch/request-metrics.ts';
import type { StreamCaps, StreamLimit } from './watch/stream-limit.ts';

/** The dependencies of the API. `runs` and `guards` come from `createClient`, as for every other caller. */
export interface ApiDeps extends TemporalClient {
  store: Store;
  registry: Registry;
  tokens: readonly TokenGrant[];
  /** Each resolves if its service answers. */
  checks: { temporal: () => Promise<unknown>; store: () => Promise<unknown> };
  /** Host names that requests may use, in addition to the loopback names. */
  allowedHosts?: readonly string[];
  /** Serves `/codec`. Without it payloads are answered as they are. */
  codec?: {
    payloadCodec: PayloadCodec;
    /** The pages that may ask for it, such as that of Temporal's UI. */
    origins: readonly string[];
  };
  /** Reviews passes that are reported without a review. */
  reviewer?: (report: LoopReport) => Promise<ReviewReport>;
  /** The policy for passes that run elsewhere. Default: the defaults. */
  guardPolicy?: GuardPolicy;
  rateLimit?: RateLimit;
  /** How many streams of events may be open at a time. */
  streamCaps?: StreamCaps;
  /** Removes secrets from what the API writes to the store. Default: known patterns and the tokens of the API. */
  redact?: Redact;
  /** Names for links to Temporal. */
  temporal?: { namespace: string; uiUrl?: string };
  /** The built dashboard. Without it `/ui/` is not served. */
  dashboard?: DashboardFiles;
  log?: ApiLog;
  version?: string;
}

/** The methods of a pino logger that the API uses. */
export interface ApiLog {
  error(fields: object, message: string): void;
  warn?(fields: object, message: string): void;
}

export interface ApiEnv {
  Variables: {
    requestId: string;
    /** The token of the request; not set on routes without authentication. */
    grant: TokenGrant;
    redact: Redact;
    metrics: Metrics;
    streams: StreamLimit;
    guardSessions: GuardSessions;
  };
}
export type ApiContext = Context<ApiEnv>;
