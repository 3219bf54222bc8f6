import { spawn } from 'node:child_process';
import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';

/** How to start a program so that everything it starts ends with it, whatever it does to get away. */
export type Isolation = { kind: 'pid_namespace'; wrap(argv: readonly string[]): string[] } | { kind: 'process_group' };

/**
 * The first process of a PID namespace: when it ends, the kernel ends all the others. Signals with no handler do not
 * reach a first process, so the command itself must not be it. A watcher waits for the end of descriptor 3: a worker
 * that is killed takes its commands along. It kills all that it can see, so it must not be outside: the first line makes
 * sure. The shell's own remarks ("Terminated") are not the command's.
 */
const FIRST_PROCESS = `[ $$ = 1 ] || exit 126
unset PWD OLDPWD
exec 4>&2 2>/dev/null
{ trap '' TERM INT HUP; read -r _ <&3; kill -KILL -1; } >/dev/null 4>&- &
( exec "$@" 2>&4 3<&- 4>&- )
exit $?`;

const PROBE_MS = 5_000;

let probed: Promise<Isolation> | undefined;

/** What this system allows, tried once. */
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
  // With a /proc of its own a command finds itself there; some containers forbid only that.
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
