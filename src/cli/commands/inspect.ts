import type { Command } from 'commander';

interface InspectFlags {
  json?: boolean;
  markdown?: boolean;
  html?: boolean;
  anonymous?: boolean;
  failOn?: string;
  policy?: string;
  price?: string;
}

export function addInspect(program: Command): void {
  program
    .command('inspect <file...>')
    .description('find where an agent was stuck, in transcripts that it left behind; needs no server')
    .option('--json', 'print JSON')
    .option('--markdown', 'print Markdown')
    .option('--html', 'print one HTML page')
    .option('--anonymous', 'leave out names of files and tools and all text of the transcripts')
    .option('--fail-on <level>', 'exit 1 if a transcript reaches this level: suspect or stuck')
    .option('--policy <file>', 'also say what this policy would have done')
    .option('--price <usd>', 'the price of a million output tokens, for the cost of what was wasted')
    .action(async (files: string[], flags: InspectFlags) => {
      const [{ inspectFiles }, { reportsInFormat }] = await Promise.all([
        import('../inspect/inspect-files.ts'),
        import('../inspect/reports-in-format.ts'),
      ]);
      const { reports, mode, unreadable } = await inspectFiles(files, flags);
      process.stdout.write(reportsInFormat(reports, mode, flags));
      for (const line of unreadable) process.stderr.write(`${line}\n`);
      const levels = flags.failOn === 'suspect' ? ['suspect', 'stuck'] : flags.failOn === undefined ? [] : ['stuck'];
      const isReached = reports.some(({ loops }) => loops.some(({ level }) => levels.includes(level)));
      if (isReached || unreadable.length > 0) process.exitCode = 1;
    });
}
