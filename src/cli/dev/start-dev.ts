import { join } from 'node:path';
import { Problem } from '../../api/problem.ts';
import { type Fetching, serveApi } from '../../api/serve.ts';
import type { ApiDeps } from '../../api/api-context.ts';
import type { Config } from '../config/read-config.ts';
import { encryptionOfDataDir } from '../../encryption/settings.ts';
import type { Registry } from '../../define/registry.ts';
import { findRegistrySecrets } from '../../define/registry-secrets.ts';
import { SEARCH_ATTRIBUTE_TYPES } from '../../protocol/names.ts';
import { startStack } from '../../stack/start-stack.ts';
import { lockOwner } from '../../stack/machine/folder-lock.ts';
import { telemetrySettings } from '../../telemetry/settings.ts';
import { createLog } from '../serve/log.ts';
import type { Parts } from '../serve/parts.ts';
import type { Failure } from '../serve/run-parts.ts';
import { addTelemetry } from '../serve/server-telemetry.ts';
import { findDashboard } from '../serve/find-dashboard.ts';
import { ownGrants } from '../serve/token-file.ts';
import type { ReadyNews } from './announce.ts';

export interface StartDevOptions {
  config: Config;
  parts: Parts;
  registry: Registry;
  reviewer?: ApiDeps['reviewer'];
  guardPolicy?: ApiDeps['guardPolicy'] | undefined;
  ui: boolean;
  say: (line: string) => void;
}

/** Starts the whole stack in this process tree. Services that do not depend on each other start in parallel. */
export async function startDev(options: StartDevOptions): Promise<{ news: ReadyNews; failed: Promise<Failure> }> {
  const { config, parts, say } = options;
  // Imports and bundling run while the keeper starts Temporal and Postgres.
  const traced = telemetrySettings(process.env).state === 'on';
  const heavy = preload(config.cacheDir, traced, say);
  const front = { fetch: (): Response => stillStarting() } as Fetching;
  const served = await listen(front, config);
  if (served) parts.add('api', () => served.close());

  const stack = await startStack({
    dataDir: config.dataDir,
    progress: say,
    searchAttributes: SEARCH_ATTRIBUTE_TYPES,
    ui: options.ui,
    ...(served && { url: served.url }),
  });
  parts.add('stack', () => stack.stop());
  if (!served) throw new Error('The data folder was in use a moment ago and is free now. Start again.');

  const { grants, operatorToken, file } = await ownGrants(config.tokens, stack.dataDir);
  const logPath = join(stack.dataDir, 'logs', 'secondwind.log');
  const secrets = [...grants.map((grant) => grant.token), ...findRegistrySecrets(options.registry)];
  const log = createLog({ file: logPath }, secrets);
  const telemetry = await addTelemetry(parts, log, secrets);
  const { store, workerMain, bundlePath, dashboard, openApi, serveApp } = await heavy;
  await store.migrateToLatest(stack.databaseUrl);
  const encryption = await encryptionOfDataDir(process.env, stack.dataDir);
  const opened = store.createStore({ databaseUrl: stack.databaseUrl, encryption });
  parts.add('store', () => opened.close());

  // Keys in the environment are for an external Temporal, and not for the dev server.
  const env = stack.owned.temporal ? {} : process.env;
  const shared = { ...stack, registry: options.registry, store: opened, telemetry, encryption };
  const { allowedHosts, codecOrigins, rateLimit } = config;
  const limits = { allowedHosts, codecOrigins, rateLimit };
  const ownTemporal = stack.owned.temporal ? stack.dataDir : undefined;
  const api = openApi(parts, {
    ...shared,
    ...limits,
    ownTemporal,
    grants,
    reviewer: options.reviewer,
    guardPolicy: options.guardPolicy,
    log,
    env,
    dashboard,
  });
  const worker = await workerMain.startWorker({
    ...shared,
    workflowBundlePath: bundlePath,
    logger: log.temporal,
    env,
  });
  parts.add('worker', () => worker.stop());
  const app = await api;
  front.fetch = serveApp(app, telemetry);
  await checkReady(served.url);

  const failed = Promise.race([
    stack.exited.then((exit): Failure | null => (exit.reason === 'failed' ? { error: exit.error } : null)),
    worker.ended.then((end): Failure | null => (end.reason === 'failed' ? { error: end.error } : null)),
  ]).then((failure) => failure ?? new Promise<Failure>(() => {}));
  return {
    news: {
      agents: [...options.registry.agents.keys()],
      url: served.url,
      token: operatorToken,
      tokenFile: file,
      logPath,
      stack,
    },
    failed,
  };
}

async function preload(cacheDir: string, traced: boolean, say: (line: string) => void) {
  const dashboard = findDashboard(say);
  const [workerMain, { createStore }, { migrateToLatest }, { serveApp, openApi }] = await Promise.all([
    import('../../worker/main.ts'),
    import('../../store/store.ts'),
    import('../../store/migrate.ts'),
    import('../serve/open-api.ts'),
  ]);
  return {
    workerMain,
    store: { createStore, migrateToLatest },
    openApi,
    serveApp,
    bundlePath: await workerMain.workflowBundle(cacheDir, { traced }),
    dashboard: await dashboard,
  };
}

/**
 * Listens on the port first, so that nothing starts in vain if it is taken. If it is taken by another process with the same data
 * folder, the error of the stack is better, because it names that process.
 */
async function listen(app: Fetching, config: Config) {
  try {
    return await serveApi(app, { host: '127.0.0.1', port: config.port });
  } catch (error) {
    if (lockOwner(join(config.dataDir, 'lock')) === undefined) throw error;
    return undefined;
  }
}

const stillStarting = (): Response =>
  new Problem('starting', 'Wait until `secondwind dev` prints the line that begins with "ready".').toResponse();

/** Checks readiness over HTTP, as other clients do. */
async function checkReady(url: string): Promise<void> {
  const answer = await fetch(`${url}/readyz`);
  if (!answer.ok)
    throw new Error(`The stack started, but ${url}/readyz answers ${answer.status}: ${await answer.text()}`);
}
