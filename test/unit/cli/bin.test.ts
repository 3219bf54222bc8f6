/** The program that `npx secondwind` starts, in a clone where nothing is built. */
import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it, onTestFinished } from 'vitest';
import { ROOT } from '../docs/markdown.ts';

const run = promisify(execFile);
const { version, bin } = JSON.parse(readFileSync(`${ROOT}package.json`, 'utf8')) as {
  version: string;
  bin: Record<string, string>;
};

describe('the program of the package', () => {
  it('runs in a clone, from another folder too', async () => {
    const { stdout } = await run(process.execPath, [ROOT + bin['secondwind'], '--version'], { cwd: '/' });
    expect(stdout.trim()).toBe(version);
  });

  it('recognizes the hook that it has installed, and installs it once', async () => {
    const home = mkdtempSync(join(tmpdir(), 'secondwind-test-bin-'));
    onTestFinished(() => rmSync(home, { recursive: true, force: true }));
    mkdirSync(join(home, '.claude'));
    const install = () =>
      run(process.execPath, [ROOT + bin['secondwind'], 'hook', 'install', '--yes'], {
        env: { ...process.env, HOME: home },
      });
    await install();
    expect((await install()).stdout).toContain('already');
  });
});
