import type { Command } from 'commander';
import { readConfig } from '../../config.ts';
import { reportError } from '../report-error.ts';

interface DevFlags {
  port?: string;
  dataDir?: string;
  demo: boolean;
  ui?: boolean;
  json?: boolean;
}

export function addDev(program: Command): void {
  program
    .command('dev')
    .description('start the whole stack: Temporal, Postgres, worker and API')
    .option('--no-demo', 'start an empty stack (the agent demo is there all the same)')
    .option('--port <port>', 'where the API listens; 0 takes any free port (default: SECONDWIND_PORT or 4680)')
    .option('--data-dir <folder>', 'where databases, logs and the token live (default: SECONDWIND_DATA_DIR)')
    .option('--ui', "start Temporal's own web UI too")
    .option('--json', 'tell when it is ready in one JSON line')
    .action(async (flags: DevFlags) => {
      process.exitCode = await runDev(flags);
    });
}

async function runDev(flags: DevFlags): Promise<number> {
  const config = readConfig(process.env, flags);
  const [{ runParts }, { startDev }, { readyJson, readyLines }] = await Promise.all([
    import('../run/run-parts.ts'),
    import('../dev/start-dev.ts'),
    import('../dev/announce.ts'),
  ]);
  const say = (line: string): void => void process.stderr.write(`${line}\n`);
  return runParts({
    say,
    report: (error) => reportError(error, flags),
    start: async (parts) => {
      const { news, failed } = await startDev({ config, parts, ui: flags.ui === true, say });
      // From the start of the process: what a person waits for includes loading.
      const ms = performance.now();
      const lines = flags.json ? [readyJson(news, ms)] : readyLines(news, ms, flags.demo);
      process.stdout.write(`${lines.join('\n')}\n`);
      return { failed };
    },
  });
}
