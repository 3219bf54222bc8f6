import type { Command } from 'commander';
import { readConfig } from '../config/read-config.ts';
import type { RemoteFlags } from '../ask/connect.ts';

export function addMcp(program: Command): void {
  program
    .command('mcp')
    .description('serve memory and guards as MCP tools over stdio, for agents that run elsewhere')
    .option('--url <address>', 'the API to ask (default: the one that `secondwind dev` started)')
    .option('--data-dir <folder>', 'where `dev` keeps its token and address (default: SECONDWIND_DATA_DIR)')
    .option('--json', 'nothing changes: what is on stdout is JSON already')
    .action(async (flags: RemoteFlags) => {
      // A bad setting is told at once; an API that is away only at a call, because it may come.
      readConfig(process.env, { dataDir: flags.dataDir });
      const [{ serveStdio }, { createMcpServer }, { connectRemote }, { ownVersion }] = await Promise.all([
        import('@modelcontextprotocol/server/stdio'),
        import('../../api/mcp/create-mcp-server.ts'),
        import('../ask/connect.ts'),
        import('../version.ts'),
      ]);
      const log = (line: string): void => void process.stderr.write(`${line}\n`);
      const served = serveStdio(
        () => createMcpServer({ openClient: () => connectRemote(flags), version: ownVersion(), log }),
        {
          onerror: (error) => log(`The connection has a problem: ${error.message}`),
        },
      );
      await untilOver();
      await served.close();
    });
}

/** A host ends its servers by closing their input, or with a signal. */
function untilOver(): Promise<void> {
  return new Promise((resolve) => {
    for (const end of ['end', 'close'] as const) process.stdin.once(end, () => resolve());
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, () => resolve());
  });
}
