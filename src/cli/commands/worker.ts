import type { Command } from 'commander';
import { type Config, readConfig } from '../config/read-config.ts';
import { findRegistrySecrets } from '../../define/registry-secrets.ts';
import { reportError } from '../report-error.ts';
import type { CommandLog } from '../serve/log.ts';
import type { Parts } from '../serve/parts.ts';
import type { Failure } from '../serve/run-parts.ts';

interface WorkerFlags {
  agents?: string;
  json?: boolean;
}

export function addWorker(program: Command): void {
  program
    .command('worker')
    .description('run a worker against TEMPORAL_ADDRESS and DATABASE_URL')
    .option('--agents <folder>', 'a folder whose files export agents')
    .option('--json', 'print one JSON line when it is ready')
    .action(async (flags: WorkerFlags) => {
      const config = readConfig(process.env);
      const [{ runParts }, { createLog }] = await Promise.all([
        import('../serve/run-parts.ts'),
        import('../serve/log.ts'),
      ]);
      const log = createLog('stderr', []);
      process.exitCode = await runParts({
        say: (line) => log.info({}, line),
        report: (error) => reportError(error, flags),
        start: (parts) => start(config, parts, { ...flags, log }),
      });
    });
}

async function start(
  config: Config,
  parts: Parts,
  { log, ...flags }: WorkerFlags & { log: CommandLog },
): Promise<{ failed: Promise<Failure> }> {
  const { connectExternal } = await import('../serve/external-services.ts');
  const outside = await connectExternal(config);
  // Imported only now, because it takes seconds and an unreachable server should be reported at once.
  const [
    { createStore },
    { startWorker, workflowBundle },
    { registryWith },
    { addTelemetry },
    { encryptionFrom },
    { warnIfPlain },
  ] = await Promise.all([
    import('../../store/store.ts'),
    import('../../worker/main.ts'),
    import('../serve/built-in-agents.ts'),
    import('../serve/server-telemetry.ts'),
    import('../../encryption/settings.ts'),
    import('../serve/warn-if-plain.ts'),
  ]);
  const registry = await registryWith(flags.agents);
  const secrets = findRegistrySecrets(registry);
  log.hide(secrets);
  const encryption = encryptionFrom(process.env);
  const store = createStore({ databaseUrl: outside.databaseUrl, encryption });
  warnIfPlain(config.encryption, log);
  parts.add('store', () => store.close());
  const telemetry = await addTelemetry(parts, log, secrets);
  const logger = log.temporal;
  const worker = await startWorker({
    ...outside,
    registry,
    store,
    workflowBundlePath: await workflowBundle(config.cacheDir, { traced: telemetry !== undefined, logger }),
    logger,
    telemetry,
    encryption,
    env: process.env,
  });
  parts.add('worker', () => worker.stop());
  const { temporalAddress, namespace } = outside;
  const news = { event: 'ready', temporal_address: temporalAddress, namespace };
  process.stdout.write(`${flags.json ? JSON.stringify(news) : `ready worker on ${temporalAddress}`}\n`);
  return {
    failed: worker.ended.then((end) => (end.reason === 'failed' ? { error: end.error } : new Promise(() => {}))),
  };
}
