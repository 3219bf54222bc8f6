import type { Hono } from 'hono';
import type { ApiDeps, ApiEnv, ApiLog } from '../../api/context.ts';
import { createApi } from '../../api/create-api.ts';
import { connectClient } from '../../client/connect.ts';
import { createClient } from '../../client/create-client.ts';
import type { Grant } from '../../api/access.ts';
import type { Registry } from '../../define/registry.ts';
import type { Store } from '../../store/store.ts';
import type { Telemetry } from '../../telemetry/start-telemetry.ts';
import { ownVersion } from '../version.ts';
import type { Parts } from './parts.ts';

export interface OpenApiOptions {
  temporalAddress: string;
  namespace: string;
  searchAttributes: boolean;
  registry: Registry;
  store: Store;
  grants: readonly Grant[];
  allowedHosts: readonly string[];
  /** Requests a second for each token; twice as many at once. */
  rateLimit: number;
  /** Judges loops that are reported without a review. */
  reviewer: ApiDeps['reviewer'];
  log: ApiLog;
  /** Where the keys of an own Temporal are read from; `{}` for ours. */
  env: NodeJS.ProcessEnv;
  telemetry?: Telemetry | undefined;
}

const CHECK_MS = 2_000;

/** Connects the API to Temporal and the store. It has no port yet. */
export async function openApi(parts: Parts, options: OpenApiOptions): Promise<Hono<ApiEnv>> {
  const { temporalAddress: address, namespace, store, registry, searchAttributes } = options;
  const client = await connectClient({ address, namespace, env: options.env, telemetry: options.telemetry });
  parts.add('client', () => client.connection.close());
  return createApi({
    ...createClient({ temporal: client, registry, store, searchAttributes }),
    store,
    registry,
    tokens: options.grants,
    allowedHosts: options.allowedHosts,
    rateLimit: { perSecond: options.rateLimit, burst: 2 * options.rateLimit },
    ...(options.reviewer && { reviewer: options.reviewer }),
    checks: {
      temporal: () =>
        client.withDeadline(Date.now() + CHECK_MS, () => client.workflowService.describeNamespace({ namespace })),
      store: () => store.ping(),
    },
    log: options.log,
    version: ownVersion(),
  });
}

/** What serves the API; as part of the caller's trace where telemetry is on and the caller names one. */
export const answeredBy =
  (app: Hono<ApiEnv>, telemetry: Telemetry | undefined) =>
  (request: Request): Response | Promise<Response> =>
    telemetry === undefined ? app.fetch(request) : telemetry.answer(request, () => app.fetch(request));
