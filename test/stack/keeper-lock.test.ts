/** Who owns a folder, and who is who. No stack; the race is one of real processes. */
import type { ChildProcess } from 'node:child_process';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { lockOwner, takeFolderLock } from '../../src/stack/machine/folder-lock.ts';
import { stopLeftovers } from '../../src/stack/machine/leftovers.ts';
import { identityOf, isRunning, ownIdentity } from '../../src/stack/machine/process-identity.ts';
import { program } from '../support/programs.ts';

let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'secondwind-test-lock-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
});

async function sleeper(...args: string[]): Promise<ChildProcess & { pid: number }> {
  const child = spawn(process.execPath, ['-e', 'process.stdin.resume()', ...args], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  await once(child, 'spawn');
  if (child.pid === undefined) throw new Error('no process');
  return Object.assign(child, { pid: child.pid });
}

function identity(pid: number): { pid: number; started: string } {
  const found = identityOf(pid);
  if (!found) throw new Error('not running');
  return found;
}

describe('a folder', () => {
  it('a folder belongs to the first who takes it, and the others learn who that is', async () => {
    const owner = identity((await sleeper()).pid);
    expect(takeFolderLock(folder, owner)).toEqual({ taken: true });
    expect(takeFolderLock(folder, ownIdentity())).toEqual({ taken: false, owner });
    expect(lockOwner(folder)).toEqual(owner);
  });

  it('a folder is free again the moment its owner is dead, however it died', async () => {
    const child = await sleeper();
    takeFolderLock(folder, identity(child.pid));
    child.kill('SIGKILL');
    await once(child, 'exit');
    expect(lockOwner(folder)).toBeUndefined();
    expect(takeFolderLock(folder, ownIdentity())).toEqual({ taken: true });
    expect(readdirSync(folder)).toEqual(['owner.2']);
  });

  it('a folder does not belong to a stranger who got the pid of the dead owner', async () => {
    const stranger = await sleeper();
    symlinkSync(`${stranger.pid}@a-start-long-ago`, join(folder, 'owner.4'));
    expect(takeFolderLock(folder, ownIdentity())).toEqual({ taken: true });
  });

  it('a folder is not lost to a half-removed or unreadable lock', () => {
    symlinkSync('nonsense', join(folder, 'owner.9'));
    expect(takeFolderLock(folder, ownIdentity())).toEqual({ taken: true });
    expect(readdirSync(folder)).toEqual(['owner.10']);
  });

  it('a folder left by a dead owner goes to exactly one of many who want it at the same moment', async () => {
    symlinkSync('999999999@a-start-long-ago', join(folder, 'owner.1'));
    const takers = Array.from({ length: 6 }, () => {
      const child = spawn(process.execPath, [program('test/support/lock-taker.ts'), folder], {
        stdio: ['pipe', 'pipe', 'inherit'],
      });
      onTestFinished(() => void child.kill('SIGKILL'));
      return { child, lines: createInterface({ input: child.stdout })[Symbol.asyncIterator]() };
    });
    await Promise.all(takers.map(({ lines }) => lines.next()));
    for (const { child } of takers) child.stdin.write('now\n');
    const answers = await Promise.all(takers.map(async ({ lines }) => (await lines.next()).value));
    expect(answers.filter((answer) => answer === 'taken')).toHaveLength(1);
    expect(answers.filter((answer) => answer === 'refused')).toHaveLength(5);
  });
});

describe('a leftover process', () => {
  it('a leftover process is ended when it works on our folder, and only then', async () => {
    const [ours, other] = [await sleeper(folder), await sleeper(`${folder}-of-somebody-else`)];
    const [oursIs, otherIs] = [identity(ours.pid), identity(other.pid)];
    expect(await stopLeftovers(folder)).toEqual([ours.pid]);
    expect(isRunning(oursIs)).toBe(false);
    expect(isRunning(otherIs)).toBe(true);
  });

  it('a leftover process that does not listen to a polite word is killed', async () => {
    const code = `process.on('SIGINT', () => {}); process.stdin.resume(); console.log('deaf')`;
    const deaf = spawn(process.execPath, ['-e', code, folder], { stdio: ['pipe', 'pipe', 'inherit'] });
    onTestFinished(() => void deaf.kill('SIGKILL'));
    await once(deaf.stdout, 'data');
    expect(await stopLeftovers(folder)).toEqual([deaf.pid]);
    expect(deaf.signalCode ?? (await once(deaf, 'exit'))[1]).toBe('SIGKILL');
  });
});
