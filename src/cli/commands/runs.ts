import { defined } from '../../protocol/json.ts';
import type { Command } from 'commander';
import type { RunFilter } from '../../client/views.ts';
import { remoteCommand } from '../ask/command.ts';
import type { RemoteFlags } from '../ask/connect-remote.ts';

interface RunsFlags extends RemoteFlags {
  state?: string;
  agent?: string;
  outcome?: string;
  label?: string;
  limit?: string;
  cursor?: string;
}

export function addRuns(program: Command): void {
  remoteCommand(program, 'runs', 'list runs: open runs first, then ended ones, the latest first')
    .option('--state <state>', 'only runs in this state')
    .option('--agent <name>', 'only runs of this agent')
    .option('--outcome <outcome>', 'only runs with this outcome')
    .option('--label <label>', 'only runs with this label')
    .option('--limit <n>', 'the most runs to list, up to 200 (default: 50)')
    .option('--cursor <cursor>', 'continue after the last list')
    .action(async ({ url, dataDir, json, ...filter }: RunsFlags) => {
      const [{ connectRemote }, { print }, { runLines }] = await Promise.all([
        import('../ask/connect-remote.ts'),
        import('../show/print.ts'),
        import('../show/run-lines.ts'),
      ]);
      const { runs } = await connectRemote({
        ...defined({ url, dataDir }),
      });
      // The API refuses invalid values and names them.
      const page = await runs.list(filter as RunFilter);
      print({ json: json === true }, page, () => runLines(page));
    });
}
