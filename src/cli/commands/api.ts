import type { Command } from 'commander';
import { type Config, ConfigError, isLoopback, readConfig } from '../config/read-config.ts';
import type { TokenGrant } from '../../api/access.ts';
import { isStrong } from '../config/read-tokens.ts';
import { findRegistrySecrets } from '../../define/registry-secrets.ts';
import { reportError } from '../report-error.ts';
import type { Parts } from '../serve/parts.ts';
import type { Failure } from '../serve/run-parts.ts';

interface ApiFlags {
  port?: string;
  host?: string;
  agents?: string;
  json?: boolean;
}

export function addApi(program: Command): void {
  program
    .command('api')
    .description('serve the API against TEMPORAL_ADDRESS and DATABASE_URL')
    .option('--port <port>', 'the port to listen on (default: SECONDWIND_PORT or 4680)')
    .option(
      '--host <address>',
      'the address to listen on; other than this machine only with a token (default: SECONDWIND_HOST or 127.0.0.1)',
    )
    .option('--agents <folder>', 'a folder whose files export agents')
    .option('--json', 'print one JSON line when it is ready')
    .action(async (flags: ApiFlags) => {
      const config = readConfig(process.env, flags);
      requireStrongToken(config);
      const [{ runParts }, { createLog }] = await Promise.all([
        import('../serve/run-parts.ts'),
        import('../serve/log.ts'),
      ]);
      const log = createLog('stderr', []);
      process.exitCode = await runParts({
        say: (line) => log.info({}, line),
        report: (error) => reportError(error, flags),
        start: (parts) => start(config, parts, flags),
      });
    });
}

async function start(config: Config, parts: Parts, flags: ApiFlags): Promise<{ failed: Promise<Failure> }> {
  const { connectExternal } = await import('../serve/external-services.ts');
  const outside = await connectExternal(config);
  // Imported only now, because it takes seconds and an unreachable server should be reported at once.
  const [
    { createStore },
    { serveApp, openApi },
    { registryWith },
    { loadReviewer },
    { loadGuardPolicy },
    { createLog },
    { addTelemetry },
    { serveApi },
    { encryptionFrom },
    { warnIfPlain },
    { findDashboard },
  ] = await Promise.all([
    import('../../store/store.ts'),
    import('../serve/open-api.ts'),
    import('../serve/built-in-agents.ts'),
    import('../serve/load-reviewer.ts'),
    import('../serve/load-policy.ts'),
    import('../serve/log.ts'),
    import('../serve/server-telemetry.ts'),
    import('../../api/serve.ts'),
    import('../../encryption/settings.ts'),
    import('../serve/warn-if-plain.ts'),
    import('../serve/find-dashboard.ts'),
  ]);
  const registry = await registryWith(flags.agents);
  const reviewer = await loadReviewer(config.reviewer, process.env);
  const guardPolicy = await loadGuardPolicy(config.policyFile);
  const grants = await grantsFor(config);
  const encryption = encryptionFrom(process.env);
  const store = createStore({ databaseUrl: outside.databaseUrl, encryption });
  parts.add('store', () => store.close());
  const secrets = [...grants.map((grant) => grant.token), ...findRegistrySecrets(registry)];
  const log = createLog('stderr', secrets);
  const telemetry = await addTelemetry(parts, log, secrets);
  warnIfPlain(config.encryption, log);
  const { allowedHosts, codecOrigins, rateLimit } = config;
  const dashboard = await findDashboard((line) => log.warn({}, line));
  const app = await openApi(parts, {
    ...outside,
    registry,
    store,
    grants,
    allowedHosts,
    codecOrigins,
    rateLimit,
    encryption,
    reviewer,
    guardPolicy,
    log,
    env: process.env,
    telemetry,
    dashboard,
  });
  const served = await serveApi({ fetch: serveApp(app, telemetry) }, config);
  parts.add('api', () => served.close());
  process.stdout.write(`${flags.json ? JSON.stringify({ event: 'ready', url: served.url }) : `ready ${served.url}`}\n`);
  return { failed: new Promise(() => {}) };
}

/** An API that listens only on this machine may use the token of the data folder. */
async function grantsFor(config: Config): Promise<readonly TokenGrant[]> {
  if (!isLoopback(config.host)) return config.tokens;
  const { ownGrants } = await import('../serve/token-file.ts');
  return (await ownGrants(config.tokens, config.dataDir)).grants;
}

/** An API that other machines can reach must have a token that cannot be guessed. */
function requireStrongToken({ host, tokens }: Config): void {
  if (isLoopback(host) || (tokens.length > 0 && tokens.every(isStrong))) return;
  throw new ConfigError(
    `The API cannot listen on ${host} without a token of at least 16 characters.`,
    'Set SECONDWIND_TOKEN, for example to the output of `openssl rand -hex 24`, or leave the host at 127.0.0.1.',
  );
}
