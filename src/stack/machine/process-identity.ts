import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

/**
 * Identifies a process. A pid alone is not enough, because after a crash another process may have the same number. Pid
 * and start time are unique until a reboot, and the boot id makes them unique across reboots.
 */
export interface ProcessIdentity {
  pid: number;
  started: string;
}

export function identityOf(pid: number): ProcessIdentity | undefined {
  const started = process.platform === 'linux' ? startOnLinux(pid) : startByPs(pid);
  return started === undefined ? undefined : { pid, started };
}

export function isRunning(identity: ProcessIdentity): boolean {
  return identityOf(identity.pid)?.started === identity.started;
}

export function ownIdentity(): ProcessIdentity {
  const identity = identityOf(process.pid);
  if (!identity) throw new Error('The start time of this process cannot be read; is /proc mounted?');
  return identity;
}

function startOnLinux(pid: number): string | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    // The second field is the name in parentheses, and can itself contain spaces and parentheses.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    const [state, startTicks] = [fields[0], fields[19]];
    // A zombie does nothing any more; its parent may never collect it (containers without an init).
    if (state === 'Z' || state === 'X') return undefined;
    return `${bootId()}/${startTicks}`;
  } catch {
    return undefined;
  }
}

let knownBootId: string | undefined;

function bootId(): string {
  try {
    knownBootId ??= readFileSync('/proc/sys/kernel/random/boot_id', 'latin1').trim();
  } catch {
    knownBootId = 'no-boot-id';
  }
  return knownBootId;
}

function startByPs(pid: number): string | undefined {
  try {
    const options = { encoding: 'utf8', env: { ...process.env, LC_ALL: 'C' }, stdio: 'pipe' } as const;
    const line = execFileSync('ps', ['-o', 'stat=,lstart=', '-p', String(pid)], options).trim();
    if (line === '' || line.startsWith('Z')) return undefined;
    return line.slice(line.indexOf(' ')).trim().replaceAll(/\s+/g, '_');
  } catch {
    return undefined;
  }
}
