import { spawn } from 'node:child_process';
import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';

/** How to start a program so that every process that it starts ends with it, even a detached one. */
export type Isolation = { kind: 'pid_namespace'; wrap(argv: readonly string[]): string[] } | { kind: 'process_group' };

/**
 * The first process of a PID namespace: when it ends, the kernel ends all others. Signals without a handler do not reach a first
 * process, so the command itself must not be the first. A watcher waits until descriptor 3 is closed, so that the commands of a
 * killed worker end too. It kills every process that it can see; the first line makes sure that it runs inside a namespace. The
 * shell's own messages ("Terminated") are dropped, because they are not output of the command.
 */
const FIRST_PROCESS = `[ $$ = 1 ] || exit 126
unset PWD OLDPWD
exec 4>&2 2>/dev/null
{ trap '' TERM INT HUP; read -r _ <&3; kill -KILL -1; } >/dev/null 4>&- &
( exec "$@" 2>&4 3<&- 4>&- )
exit $?`;

const PROBE_MS = 5_000;

let probed: Promise<Isolation> | undefined;

/** Returns the isolation that this system allows. It is tried once per process. */
export function isolation(): Promise<Isolation> {
  probed ??= probe();
  return probed;
}

async function probe(): Promise<Isolation> {
  if (process.platform !== 'linux') return { kind: 'process_group' };
  const unshare = onPath('unshare');
  const sh = onPath('sh');
  if (unshare === null || sh === null) return { kind: 'process_group' };
  const user = process.getuid?.() === 0 ? [] : ['--user', '--map-current-user'];
  const pid = [...user, '--pid', '--fork', '--kill-child'];
  // First with an own /proc, in which a command sees its own process; some containers forbid only that.
  for (const flags of [[...pid, '--mount-proc'], pid]) {
    const wrap = (argv: readonly string[]): string[] => [
      unshare,
      ...flags,
      '--',
      sh,
      '-c',
      FIRST_PROCESS,
      'sh',
      ...argv,
    ];
    if (await works(wrap([sh, '-c', 'exit 7']))) return { kind: 'pid_namespace', wrap };
  }
  return { kind: 'process_group' };
}

const works = ([command = '', ...args]: string[]): Promise<boolean> =>
  new Promise((resolve) => {
    const child = spawn(command, args, { stdio: ['ignore', 'ignore', 'ignore', 'pipe'], timeout: PROBE_MS });
    child.once('error', () => resolve(false));
    child.once('exit', (code) => resolve(code === 7));
  });

function onPath(name: string): string | null {
  for (const folder of [...(process.env['PATH'] ?? '').split(delimiter), '/usr/bin', '/bin']) {
    const path = join(folder, name);
    try {
      if (folder === '') continue;
      accessSync(path, constants.X_OK);
      return path;
    } catch {
      continue;
    }
  }
  return null;
}
