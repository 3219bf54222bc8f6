import type { Command } from 'commander';

interface DemoFlags {
  dataDir?: string;
  json?: boolean;
}

export function addDemo(program: Command): void {
  program
    .command('demo')
    .description(
      'watch a run fail, learn, lose its worker, ask before it repeats a side effect, and know better next time',
    )
    .option('--data-dir <folder>', "the demo's own data folder; default: beside that of `dev`")
    .option('--json', 'only the figures, as one JSON object')
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
      say('  npm start                 the whole stack, with an API to start runs of your own');
      say('  npx secondwind bound      what a run may take at most, under any policy');
    });
}
