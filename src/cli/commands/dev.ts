import { defined } from '../../protocol/json.ts';
import type { Command } from 'commander';
import { readConfig } from '../config/read-config.ts';
import { reportError } from '../report-error.ts';

interface DevFlags {
  port?: string;
  dataDir?: string;
  demo: boolean;
  agents?: string;
  ui?: boolean;
  json?: boolean;
}

export function addDev(program: Command): void {
  program
    .command('dev')
    .description('start the whole stack: Temporal, Postgres, worker and API')
    .argument('[agents]', 'a folder whose files export agents')
    .option('--agents <folder>', 'the same folder, as an option like that of worker and api')
    .option('--no-demo', 'do not suggest the demo (the agent named demo is always there)')
    .option('--port <port>', 'the port of the API; 0 takes any free port (default: SECONDWIND_PORT or 4680)')
    .option('--data-dir <folder>', 'the folder for databases, logs and the token (default: SECONDWIND_DATA_DIR)')
    .option('--ui', "start Temporal's own web UI too")
    .option('--json', 'print one JSON line when it is ready')
    .action(async (folder: string | undefined, flags: DevFlags) => {
      process.exitCode = await runDev({ ...flags, ...defined({ agents: folder }) });
    });
}

async function runDev(flags: DevFlags): Promise<number> {
  const config = readConfig(process.env, flags);
  const [
    { runParts },
    { startDev },
    { readyJson, readyLines },
    { registryWith },
    { loadReviewer },
    { loadGuardPolicy },
  ] = await Promise.all([
    import('../serve/run-parts.ts'),
    import('../dev/start-dev.ts'),
    import('../dev/announce.ts'),
    import('../serve/built-in-agents.ts'),
    import('../serve/load-reviewer.ts'),
    import('../serve/load-policy.ts'),
  ]);
  const say = (line: string): void => void process.stderr.write(`${line}\n`);
  return runParts({
    say,
    report: (error) => reportError(error, flags),
    start: async (parts) => {
      // Agents are loaded before anything starts, so that an invalid file is reported at once.
      const registry = await registryWith(flags.agents);
      const reviewer = await loadReviewer(config.reviewer, process.env);
      const guardPolicy = await loadGuardPolicy(config.policyFile);
      const { news, failed } = await startDev({
        config,
        parts,
        registry,
        reviewer,
        guardPolicy,
        ui: flags.ui === true,
        say,
      });
      // Measured from the start of the process, because a person waits for the imports too.
      const ms = performance.now();
      const lines = flags.json ? [readyJson(news, ms)] : readyLines(news, ms, flags.demo);
      process.stdout.write(`${lines.join('\n')}\n`);
      return { failed };
    },
  });
}
