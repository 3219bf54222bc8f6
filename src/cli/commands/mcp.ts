import type { Command } from 'commander';
import { readConfig } from '../config/read-config.ts';
import type { RemoteFlags } from '../ask/connect-remote.ts';

export function addMcp(program: Command): void {
  program
    .command('mcp')
    .description('serve memory and guards as MCP tools over stdio, for agents that run elsewhere')
    .option('--url <address>', 'the address of the API (default: the one that `secondwind dev` started)')
    .option('--data-dir <folder>', 'the folder where `dev` stores its token and address (default: SECONDWIND_DATA_DIR)')
    .option('--json', 'has no effect: stdout is JSON already')
    .action(async (flags: RemoteFlags) => {
      // An invalid setting is reported at once. An unreachable API is reported with a call, because it may start later.
      readConfig(process.env, { dataDir: flags.dataDir });
      const [{ serveStdio }, { createMcpServer }, { connectRemote }, { ownVersion }] = await Promise.all([
        import('@modelcontextprotocol/server/stdio'),
        import('../../api/mcp/create-mcp-server.ts'),
        import('../ask/connect-remote.ts'),
        import('../version.ts'),
      ]);
      const log = (line: string): void => void process.stderr.write(`${line}\n`);
      const served = serveStdio(
        () => createMcpServer({ openClient: () => connectRemote(flags), version: ownVersion(), log }),
        {
          onerror: (error) => log(`Connection error: ${error.message}`),
        },
      );
      await waitForEnd();
      await served.close();
    });
}

/** Waits until the MCP host closes stdin or sends a signal. */
function waitForEnd(): Promise<void> {
  return new Promise((resolve) => {
    for (const end of ['end', 'close'] as const) process.stdin.once(end, () => resolve());
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, () => resolve());
  });
}
