import type { Command } from 'commander';
import type { RunFilter } from '../../client/views.ts';
import { remoteCommand } from '../ask/command.ts';
import type { RemoteFlags } from '../ask/connect.ts';

interface RunsFlags extends RemoteFlags {
  state?: string;
  agent?: string;
  outcome?: string;
  label?: string;
  limit?: string;
  cursor?: string;
}

export function addRuns(program: Command): void {
  remoteCommand(program, 'runs', 'list the runs: open ones first, then those that ended last')
    .option('--state <state>', 'only those in this state')
    .option('--agent <name>', 'only those of this agent')
    .option('--outcome <outcome>', 'only those that ended so')
    .option('--label <label>', 'only those with this label')
    .option('--limit <n>', 'so many at most, up to 200 (default: 50)')
    .option('--cursor <cursor>', 'go on where the last list ended')
    .action(async ({ url, dataDir, json, ...filter }: RunsFlags) => {
      const [{ connectRemote }, { print }, { runLines }] = await Promise.all([
        import('../ask/connect.ts'),
        import('../show/print.ts'),
        import('../show/runs.ts'),
      ]);
      const { runs } = await connectRemote({
        ...(url !== undefined && { url }),
        ...(dataDir !== undefined && { dataDir }),
      });
      // What is no state, outcome or number the API refuses by name.
      const page = await runs.list(filter as RunFilter);
      print({ json: json === true }, page, () => runLines(page));
    });
}
