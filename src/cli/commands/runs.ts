import { defined } from '../../protocol/json.ts';
import type { Command } from 'commander';
import type { Runs } from '../../client/secondwind-client.ts';
import type { RunFilter, RunPage } from '../../client/views.ts';
import { remoteCommand } from '../ask/command.ts';
import type { RemoteFlags } from '../ask/connect-remote.ts';

interface RunsFlags extends RemoteFlags {
  state?: string;
  agent?: string;
  outcome?: string;
  label?: string;
  search?: string;
  limit?: string;
  cursor?: string;
}

export function addRuns(program: Command): void {
  remoteCommand(program, 'runs', 'list runs: open runs first, then ended ones, the latest first')
    .option('--state <state>', 'only runs in this state')
    .option('--agent <name>', 'only runs of this agent')
    .option('--outcome <outcome>', 'only runs with this outcome')
    .option('--label <label>', 'only runs with this label')
    .option('--search <words>', 'only runs whose id, goal, agent, labels and tenant contain these words')
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
      const page = await listWhole(runs, filter as RunFilter);
      print({ json: json === true }, page, () => runLines(page, Object.keys(filter).length > 0));
    });
}

/** The API looks through a limited number of runs for one page of a search, so a search goes on until something is found. */
async function listWhole(runs: Runs, filter: RunFilter): Promise<RunPage> {
  let page = await runs.list(filter);
  while (filter.search !== undefined && page.runs.length === 0 && page.next_cursor !== null)
    page = await runs.list({ ...filter, cursor: page.next_cursor });
  return page;
}
