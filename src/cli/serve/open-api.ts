import type { Hono } from 'hono';
import type { ApiDeps, ApiEnv, ApiLog } from '../../api/api-context.ts';
import { createApi } from '../../api/create-api.ts';
import { checkDatabase } from '../../stack/temporal/check-database.ts';
import { checkTemporal } from '../../client/temporal/check-temporal.ts';
import { connectClient } from '../../client/connect.ts';
import { createClient } from '../../client/create-client.ts';
import { createCodec } from '../../client/payload-codec.ts';
import type { DashboardFiles } from '../../api/dashboard/dashboard-files.ts';
import type { TokenGrant } from '../../api/access.ts';
import type { Encryption } from '../../encryption/encryption.ts';
import type { GuardPolicy } from '../../core/guardrails/guard-state.ts';
import { createRedactor, secretsOf } from '../../core/redaction/redact.ts';
import { findRegistrySecrets } from '../../define/registry-secrets.ts';
import type { Registry } from '../../define/registry.ts';
import type { Store } from '../../store/store.ts';
import type { Telemetry } from '../../telemetry/start-telemetry.ts';
import { defined } from '../../protocol/json.ts';
import { ownVersion } from '../version.ts';
import type { Parts } from './parts.ts';

export interface OpenApiOptions {
  temporalAddress: string;
  namespace: string;
  searchAttributes: boolean;
  registry: Registry;
  store: Store;
  grants: readonly TokenGrant[];
  allowedHosts: readonly string[];
  /** Requests per second for each token, with a burst of twice as many. */
  rateLimit: number;
  /** Reviews passes that are reported without a review. */
  reviewer: ApiDeps['reviewer'];
  /** The policy for passes that run elsewhere. Default: the defaults. */
  guardPolicy?: GuardPolicy | undefined;
  log: ApiLog;
  /** The environment to read the keys of an external Temporal from; `{}` for the dev server. */
  env: NodeJS.ProcessEnv;
  telemetry?: Telemetry | undefined;
  encryption: Encryption;
  codecOrigins: readonly string[];
  dashboard?: DashboardFiles | undefined;
  /** The data folder of a Temporal of our own, whose database file is checked too. */
  ownTemporal?: string | undefined;
  /** The address of Temporal's own web UI, if it runs. */
  uiUrl?: string | undefined;
}

const CHECK_MS = 2_000;

/** Connects the API to Temporal and the store. It has no port yet. */
export async function openApi(parts: Parts, options: OpenApiOptions): Promise<Hono<ApiEnv>> {
  const { temporalAddress: address, namespace, store, registry, searchAttributes } = options;
  const { env, telemetry, encryption } = options;
  const client = await connectClient({ address, namespace, env, telemetry, encryption });
  parts.add('client', () => client.connection.close());
  const tokens = options.grants.map(({ token }) => token);
  const redact = createRedactor([...secretsOf(process.env), ...findRegistrySecrets(registry), ...tokens]);
  return createApi({
    ...createClient({
      temporal: client,
      registry,
      store,
      searchAttributes,
      redact,
      guards: { ...defined({ policy: options.guardPolicy }) },
    }),
    ...defined({ guardPolicy: options.guardPolicy }),
    redact,
    store,
    registry,
    tokens: options.grants,
    allowedHosts: options.allowedHosts,
    codec: { payloadCodec: createCodec(encryption), origins: options.codecOrigins },
    rateLimit: { perSecond: options.rateLimit, burst: 2 * options.rateLimit },
    ...(options.reviewer && { reviewer: options.reviewer }),
    checks: {
      temporal: async () => {
        if (options.ownTemporal !== undefined) await checkDatabase(options.ownTemporal);
        await client.withDeadline(Date.now() + CHECK_MS, () => checkTemporal(client));
      },
      store: () => store.ping(),
    },
    ...defined({ dashboard: options.dashboard }),
    temporal: { namespace, ...defined({ uiUrl: options.uiUrl }) },
    log: options.log,
    version: ownVersion(),
  });
}

/** Serves the API. With telemetry, a request with a trace context becomes part of that trace. */
export const serveApp =
  (app: Hono<ApiEnv>, telemetry: Telemetry | undefined) =>
  (request: Request): Response | Promise<Response> =>
    telemetry === undefined ? app.fetch(request) : telemetry.answer(request, () => app.fetch(request));
