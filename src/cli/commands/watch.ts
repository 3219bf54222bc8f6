import type { Command } from 'commander';
import { remoteCommand } from '../ask/command.ts';
import type { HttpClient } from '../../client/http/http-client.ts';
import type { RemoteFlags } from '../ask/connect-remote.ts';

export function addWatch(program: Command): void {
  remoteCommand(program, 'watch [run_id]', 'follow a run until it ends, or without an id all runs')
    .option('--wait', 'keep following while the run waits for a person')
    .action(async (runId: string | undefined, flags: RemoteFlags & { wait?: boolean }) => {
      const [{ connectRemote }, { followRun }] = await Promise.all([
        import('../ask/connect-remote.ts'),
        import('../follow/follow-run.ts'),
      ]);
      const remote = await connectRemote(flags);
      if (runId === undefined) await watchAll(remote, flags);
      else process.exitCode = await followRun(remote, runId, flags);
    });
}

/** Prints the events of all runs until Ctrl-C. */
async function watchAll({ api }: HttpClient, flags: RemoteFlags): Promise<void> {
  const [{ followStream }, { narrate }] = await Promise.all([
    import('../../client/http/follow-stream.ts'),
    import('../follow/narrate.ts'),
  ]);
  const leaving = new AbortController();
  process.once('SIGINT', () => leaving.abort());
  for await (const { data } of followStream(api, { path: '/v1/events', signal: leaving.signal })) {
    const event = JSON.parse(data) as Parameters<typeof narrate>[0] & { run_id: string };
    const told = narrate(event);
    if (flags.json) process.stdout.write(`${data}\n`);
    else if (told) process.stdout.write(`${event.run_id}  ${told}\n`);
  }
}
