import { mkdirSync, readdirSync, readlinkSync, symlinkSync, unlinkSync } from 'node:fs';
import { join } from 'node:path';
import { errnoOf } from '../stack-error.ts';
import type { ProcessIdentity } from './process-identity.ts';
import { isRunning } from './process-identity.ts';

/**
 * A lock that tells who owns a folder. Node has no flock(2) and flock(1) is not everywhere, so the lock is a series of
 * symbolic links `owner.1`, `owner.2`, …, each pointing to "<pid>@<start time>":
 *
 * - The highest number is the owner, for as long as that process (pid and start time) runs. A crash frees the lock at
 *   once, and another process that gets the same pid does not hold it.
 * - symlink(2) creates a name together with its content or fails with EEXIST. So there is no half-written lock, and of
 *   two processes that found the owner dead, only one gets the next number.
 * - The highest link is never removed, not even by its owner. (If it were, a process that had already found it dead
 * could
 *   take the next number while another starts again at 1, and both would own the folder.) A process that was so slow
 * that
 *   its number has been passed sees the higher number and gives up.
 *
 * Limitation: processes in different PID namespaces (two containers on one volume) cannot see each other.
 */
export type LockResult = { taken: true } | { taken: false; owner: ProcessIdentity };

export function takeFolderLock(folder: string, me: ProcessIdentity): LockResult {
  mkdirSync(folder, { recursive: true });
  for (;;) {
    const last = highest(folder);
    const owner = last === 0 ? undefined : readOwner(folder, last);
    if (owner && isRunning(owner)) return { taken: false, owner };
    const mine = last + 1;
    if (!claim(folder, mine, me)) continue;
    if (highest(folder) !== mine) {
      remove(folder, mine);
      continue;
    }
    for (const number of numbers(folder)) if (number < mine) remove(folder, number);
    return { taken: true };
  }
}

export function lockOwner(folder: string): ProcessIdentity | undefined {
  const last = highest(folder);
  const owner = last === 0 ? undefined : readOwner(folder, last);
  return owner && isRunning(owner) ? owner : undefined;
}

function claim(folder: string, number: number, me: ProcessIdentity): boolean {
  try {
    symlinkSync(`${me.pid}@${me.started}`, linkPath(folder, number));
    return true;
  } catch (error) {
    if (errnoOf(error) === 'EEXIST') return false;
    throw error;
  }
}

function readOwner(folder: string, number: number): ProcessIdentity | undefined {
  try {
    const match = /^(\d+)@(.+)$/.exec(readlinkSync(linkPath(folder, number)));
    return match?.[1] && match[2] ? { pid: Number(match[1]), started: match[2] } : undefined;
  } catch {
    return undefined;
  }
}

function remove(folder: string, number: number): void {
  try {
    unlinkSync(linkPath(folder, number));
  } catch (error) {
    if (errnoOf(error) !== 'ENOENT') throw error;
  }
}

function highest(folder: string): number {
  return Math.max(0, ...numbers(folder));
}

function numbers(folder: string): number[] {
  try {
    return readdirSync(folder).flatMap((name) => {
      const number = /^owner\.(\d+)$/.exec(name)?.[1];
      return number ? [Number(number)] : [];
    });
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return [];
    throw error;
  }
}

function linkPath(folder: string, number: number): string {
  return join(folder, `owner.${number}`);
}
