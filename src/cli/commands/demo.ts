import type { Command } from 'commander';

interface DemoFlags {
  dataDir?: string;
  json?: boolean;
}

export function addDemo(program: Command): void {
  program
    .command('demo')
    .description(
      'show a run that fails, learns, loses its worker, asks before it repeats a side effect, and does better the next time',
    )
    .option('--data-dir <folder>', 'the data folder of the demo (default: beside that of `dev`)')
    .option('--json', 'print only the figures, as one JSON object')
    .action(async (flags: DemoFlags) => {
      const [{ readConfig }, { runDemo }] = await Promise.all([
        import('../config/read-config.ts'),
        import('../demo/run-demo.ts'),
      ]);
      const config = readConfig(process.env);
      const say = (line: string): void => void (flags.json ? null : process.stdout.write(`${line}\n`));
      const startedAt = Date.now();
      const figures = await runDemo({
        dataDir: flags.dataDir ?? `${config.dataDir}-demo`,
        bundleDir: `${config.cacheDir}/workflows`,
        say,
        progress: (line) => void process.stderr.write(`${line}\n`),
      });
      const { first_day: first, next_day: next } = figures;
      const learnt = first.outcome === 'completed' && next.outcome === 'completed' && next.attempts < first.attempts;
      const ok = learnt && figures.stuck.outcome === 'finalized';
      if (flags.json) process.stdout.write(`${JSON.stringify({ ok, figures })}\n`);
      if (!ok) process.exitCode = 1;
      say(`\nThat took ${Math.round((Date.now() - startedAt) / 1000)} s. Next:`);
      say('  npm start                 starts the whole stack, with an API for your own runs');
      say('  npx secondwind bound      shows the limit of a run, under any policy');
    });
}
