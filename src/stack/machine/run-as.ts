import { readFileSync } from 'node:fs';
import { userInfo } from 'node:os';
import { runCommand } from './run-command.ts';

/**
 * The user that a part runs as. Postgres refuses root; Postgres and Temporal refuse a user without an entry in
 * /etc/passwd.
 */
export type RunAs =
  | { kind: 'self' }
  | { kind: 'namespace'; uid: number; gid: number }
  | { kind: 'user'; uid: number; gid: number };

interface Account {
  name: string;
  uid: number;
  gid: number;
}

/**
 * Root, or a user without a name, is mapped to a named user in a separate user namespace. Files keep their real owner,
 * so nothing has to be moved. Where the system forbids this (many containers), root can still switch to another user.
 */
export async function chooseRunAs(mode: 'auto' | 'unprivileged-user'): Promise<RunAs> {
  const isRoot = process.getuid?.() === 0;
  if (!isRoot && hasName()) return { kind: 'self' };
  const accounts = readAccounts();
  const mapped = accounts.find(({ uid }) => uid !== 0 && uid !== 65_534) ?? accounts.find(({ uid }) => uid !== 0);
  if (mode === 'auto' && mapped && process.platform === 'linux') {
    const inside: RunAs = { kind: 'namespace', uid: mapped.uid, gid: mapped.gid };
    const { command, args } = commandAs(inside, 'true', []);
    if ((await runCommand(command, args, { timeoutMs: 10_000 })).ok) return inside;
  }
  const servant = accounts.find(({ name }) => name === 'postgres') ?? accounts.find(({ name }) => name === 'nobody');
  // There is no user to switch to, so Postgres itself reports the problem.
  return isRoot && servant ? { kind: 'user', uid: servant.uid, gid: servant.gid } : { kind: 'self' };
}

export function commandAs(
  runAs: RunAs,
  command: string,
  args: readonly string[],
): { command: string; args: string[]; uid?: number; gid?: number } {
  if (runAs.kind === 'self') return { command, args: [...args] };
  if (runAs.kind === 'user') return { command, args: [...args], uid: runAs.uid, gid: runAs.gid };
  const map = ['--user', `--map-user=${runAs.uid}`, `--map-group=${runAs.gid}`];
  return { command: 'unshare', args: [...map, '--', command, ...args] };
}

/** Temporal can run as root. */
export async function chooseRunAsForTemporal(): Promise<RunAs> {
  return process.getuid?.() === 0 ? { kind: 'self' } : chooseRunAs('auto');
}

function hasName(): boolean {
  try {
    return userInfo().username !== '';
  } catch {
    return false;
  }
}

function readAccounts(): Account[] {
  try {
    return readFileSync('/etc/passwd', 'utf8')
      .split('\n')
      .map((line) => line.split(':'))
      .filter((fields) => fields.length >= 7)
      .map(([name = '', , uid, gid]) => ({ name, uid: Number(uid), gid: Number(gid) }));
  } catch {
    return [];
  }
}
