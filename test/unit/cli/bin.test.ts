/** The program that `npx secondwind` starts, in a clone where nothing is built. */
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
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
});
