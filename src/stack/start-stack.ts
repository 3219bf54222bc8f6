import { resolve, sep } from 'node:path';
import { StackError } from './stack-error.ts';
import type { RunningKeeper } from './keeper/client.ts';
import { startKeeper } from './keeper/client.ts';
import type { KeeperPlan } from './keeper/messages.ts';
import { prepareDataDir } from './machine/data-dir.ts';
import { LOOPBACK } from './machine/ports.ts';
import { checkPostgres } from './postgres/external.ts';
import { checkTemporal, externalConnection } from './temporal/external.ts';
import { prepareNamespace } from './temporal/namespace.ts';
import type { Stack, StackExit, StackOptions } from './types.ts';

export { StackError } from './stack-error.ts';
/** @public */
export type { StackErrorCode } from './stack-error.ts';
/** @public */
export type { SearchAttributeTypes, Stack, StackExit, StackOptions, StackPorts } from './types.ts';

/**
 * Starts Temporal and Postgres for development and tests. Servers that are named are only checked. The others are
 * started by a keeper process and end with this process, however it ends.
 */
export async function startStack(options: StackOptions): Promise<Stack> {
  const settings = resolveSettings(options);
  const { env, progress, namespace } = settings;
  preload('@temporalio/client');
  const dataDir = await prepareDataDir(options.dataDir, options.minFreeBytes);
  if (settings.databaseUrl) await checkPostgres(settings.databaseUrl);
  if (settings.temporalAddress) await checkTemporal(settings.temporalAddress);
  const external = settings.temporalAddress ? await externalConnection(settings.temporalAddress, env) : undefined;
  const searchAttributes = options.searchAttributes ?? {};
  const prepared =
    external && (await prepareNamespace({ connection: external, namespace, searchAttributes, owned: false }));

  const plan = keeperPlan(dataDir, options, settings);
  const keeper = plan.temporal || plan.postgres ? await startKeeper(plan, env, progress) : noKeeper();
  try {
    const { temporal, postgres } = keeper.result;
    const temporalAddress = settings.temporalAddress ?? `${LOOPBACK}:${temporal?.port}`;
    const connection = { address: temporalAddress };
    const ready = prepared ?? (await prepareNamespace({ connection, namespace, searchAttributes, owned: true }));
    return {
      temporalAddress,
      namespace,
      ...(temporal?.uiPort !== undefined && { uiUrl: `http://${LOOPBACK}:${temporal.uiPort}` }),
      databaseUrl: settings.databaseUrl ?? postgres?.databaseUrl ?? '',
      dataDir,
      owned: { temporal: plan.temporal !== undefined, postgres: plan.postgres !== undefined },
      searchAttributes: ready.searchAttributes,
      stop: () => keeper.stop(),
      exited: keeper.exited,
    };
  } catch (error) {
    await keeper.stop();
    throw error;
  }
}

/** Loading gRPC takes half a second, during which the keeper can start its parts. */
function preload(name: string): void {
  import(name).catch(() => {});
}

interface Settings {
  env: NodeJS.ProcessEnv;
  progress: (line: string) => void;
  temporalAddress: string | undefined;
  databaseUrl: string | undefined;
  namespace: string;
}

function resolveSettings(options: StackOptions): Settings {
  const env = withAbsolutePaths(options.env ?? process.env);
  const settings = {
    env,
    progress: options.progress ?? ((): void => {}),
    temporalAddress: options.temporalAddress ?? (env['TEMPORAL_ADDRESS'] || undefined),
    databaseUrl: options.databaseUrl ?? (env['DATABASE_URL'] || undefined),
    namespace: options.temporalNamespace ?? (env['TEMPORAL_NAMESPACE'] || 'default'),
  };
  if (process.platform === 'win32' && !(settings.temporalAddress && settings.databaseUrl)) {
    throw new StackError(
      'unsupported_platform',
      'On Windows this cannot start Temporal and Postgres itself.',
      'Use WSL, or set TEMPORAL_ADDRESS and DATABASE_URL.',
    );
  }
  return settings;
}

/** Resolves paths from the user's working directory, because the keeper has another one. */
function withAbsolutePaths(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const paths = ['SECONDWIND_CACHE_DIR', 'TEMPORAL_CLI_PATH'].flatMap((name) => {
    const path = env[name];
    return path?.includes(sep) ? [[name, resolve(path)]] : [];
  });
  return { ...env, ...Object.fromEntries(paths) };
}

function keeperPlan(dataDir: string, options: StackOptions, settings: Settings): KeeperPlan {
  const { searchAttributes = {}, ui = false, postgresSettings = {}, postgresRootMode = 'auto' } = options;
  return {
    dataDir,
    parentPid: process.pid,
    ports: options.ports ?? {},
    ...(options.url !== undefined && { url: options.url }),
    ...(!settings.temporalAddress && { temporal: { namespace: settings.namespace, searchAttributes, ui } }),
    ...(!settings.databaseUrl && { postgres: { settings: postgresSettings, rootMode: postgresRootMode } }),
  };
}

/** Used if both servers are external: nothing is started, and the folder has no owner. */
function noKeeper(): RunningKeeper {
  let stopped: (exit: StackExit) => void = () => {};
  const exited = new Promise<StackExit>((resolve) => {
    stopped = resolve;
  });
  return {
    result: {},
    exited,
    stop: async () => {
      stopped({ reason: 'stopped' });
    },
  };
}
