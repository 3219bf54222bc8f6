import { execFileSync } from 'node:child_process';
import { readFileSync, readdirSync, readlinkSync } from 'node:fs';
import type { ProcessIdentity } from './process-identity.ts';
import { identityOf } from './process-identity.ts';

/** All processes of this machine that have `argument` as one of their command line arguments. */
export function processesWithArgument(argument: string): ProcessIdentity[] {
  const pids = process.platform === 'linux' ? pidsOnLinux(argument) : pidsByPs(argument);
  return pids.filter((pid) => pid !== process.pid).flatMap((pid) => identityOf(pid) ?? []);
}

function pidsOnLinux(argument: string): number[] {
  const own = mountNamespace('self');
  return (
    readdirSync('/proc')
      .filter((name) => /^\d+$/.test(name))
      .filter((pid) => commandLine(pid).includes(argument))
      // The same path inside a container is a different folder.
      .filter((pid) => mountNamespace(pid) === own)
      .map(Number)
  );
}

function commandLine(pid: string): string[] {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0');
  } catch {
    return [];
  }
}

function mountNamespace(pid: string): string | undefined {
  try {
    return readlinkSync(`/proc/${pid}/ns/mnt`);
  } catch {
    return undefined;
  }
}

function pidsByPs(argument: string): number[] {
  const options = { encoding: 'utf8', maxBuffer: 64 * 1024 * 1024 } as const;
  return execFileSync('ps', ['-Axww', '-o', 'pid=,command='], options)
    .split('\n')
    .filter((line) => `${line.trim()} `.includes(` ${argument} `))
    .map((line) => Number.parseInt(line, 10))
    .filter(Number.isInteger);
}
