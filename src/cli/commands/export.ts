import type { Command } from 'commander';
import type { Runs } from '../../client/secondwind-client.ts';
import { remoteCommand } from '../ask/command.ts';
import type { RemoteFlags } from '../ask/connect-remote.ts';

interface ExportFlags extends RemoteFlags {
  out?: string;
  force?: boolean;
}

export function addExport(program: Command): void {
  remoteCommand(program, 'export <run_id>', 'write a run as JSON: status, steps, failures, trace and overrides')
    .option('--out <file>', 'the file to write (default: stdout)')
    .option('--force', 'overwrite an existing file')
    .action(async (runId: string, flags: ExportFlags) => {
      const { connectRemote } = await import('../ask/connect-remote.ts');
      const { runs } = await connectRemote(flags);
      const text = `${JSON.stringify(await collectRun(runs, runId), null, 2)}\n`;
      if (flags.out === undefined) return void process.stdout.write(text);
      await writeNew(flags.out, text, flags.force === true);
      const { print } = await import('../show/print.ts');
      print(flags, { run_id: runId, file: flags.out, bytes: Buffer.byteLength(text) }, () => [
        `Wrote ${runId} to ${flags.out}.`,
      ]);
    });
}

async function collectRun(runs: Runs, runId: string): Promise<object> {
  const [status, steps, failures, trace, overrides] = await Promise.all([
    runs.get(runId),
    runs.steps(runId),
    runs.failures(runId),
    runs.trace(runId),
    runs.overrides(runId),
  ]);
  const exported_at = new Date().toISOString();
  return { format: 'secondwind.run', version: 1, exported_at, status, steps, failures, trace, overrides };
}

/** Readable by its owner only, because a run contains the outputs of its tools. */
async function writeNew(file: string, text: string, force: boolean): Promise<void> {
  const { writeFile } = await import('node:fs/promises');
  try {
    await writeFile(file, text, { mode: 0o600, flag: force ? 'w' : 'wx' });
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : String(error);
    const { SecondwindError } = await import('../../protocol/errors.ts');
    throw code === 'EEXIST'
      ? new SecondwindError('bad_usage', `${file} exists already.`, 'Choose another name, or add --force.', error)
      : new SecondwindError('bad_usage', `${file} cannot be written (${code}).`, 'Choose another path.', error);
  }
}
