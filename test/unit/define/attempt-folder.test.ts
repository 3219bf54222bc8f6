/** Folders of attempts whose worker was killed before it could remove them. */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { openAttemptFolder, removeLeftAttemptFolders } from '../../../src/define/command/attempt-folder.ts';

const DAY_MS = 24 * 60 * 60_000;

it('a worker that starts removes the folders of processes that have ended, and no other', async () => {
  const { pid } = spawnSync(process.execPath, ['--eval', '']);
  const left = mkdtempSync(join(tmpdir(), `secondwind-attempt-${pid}-`));
  const ownerless = mkdtempSync(join(tmpdir(), 'secondwind-attempt-x'));
  const own = await openAttemptFolder();
  onTestFinished(async () => {
    await own.remove();
    rmSync(ownerless, { recursive: true, force: true });
  });
  await removeLeftAttemptFolders();
  expect([left, ownerless, dirname(own.reportDir)].map((folder) => existsSync(folder))).toEqual([false, true, true]);
  rmSync(dirname(own.reportDir), { recursive: true });
  await removeLeftAttemptFolders(Date.now() + DAY_MS + 60_000);
  expect(existsSync(ownerless)).toBe(false);
});
