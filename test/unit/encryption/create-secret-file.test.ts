/** Files with a secret are there as a whole or not at all. The full disk is a process that may write no byte. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { createSecretFile } from '../../../src/encryption/create-secret-file.ts';
import { encryptionOfDataDir } from '../../../src/encryption/settings.ts';

let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'secondwind-test-secret-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
});

describe('a file with a secret', () => {
  it('is created once, whole and for its owner, by one of many who try at once', async () => {
    const file = join(folder, 'deep', 'secret');
    const texts = Array.from({ length: 20 }, (_, index) => `${index}`.repeat(1_000));
    const created = await Promise.all(texts.map((text) => createSecretFile(file, text)));
    expect(created.filter(Boolean)).toHaveLength(1);
    expect(readFileSync(file, 'utf8')).toBe(texts[created.indexOf(true)]);
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(readdirSync(join(folder, 'deep'))).toEqual(['secret']);
  });

  it('is not changed if it exists', async () => {
    const file = join(folder, 'secret');
    writeFileSync(file, 'first');
    expect(await createSecretFile(file, 'second')).toBe(false);
    expect(readFileSync(file, 'utf8')).toBe('first');
  });

  it('is not there at all when its text could not be written, so the next start makes a key', async () => {
    const settings = new URL('../../../src/encryption/settings.ts', import.meta.url).href;
    const code = `import(${JSON.stringify(settings)}).then((m) => m.encryptionOfDataDir({}, ${JSON.stringify(folder)}))`;
    const command = `ulimit -f 0; exec "$0" --import tsx -e '${code}'`;
    const { status, stderr } = spawnSync('sh', ['-c', command, process.execPath], { encoding: 'utf8' });
    expect(status).not.toBe(0);
    expect(stderr).toContain('EFBIG');
    expect(readdirSync(folder)).toEqual([]);
    await encryptionOfDataDir({}, folder);
    expect(readFileSync(join(folder, 'encryption.key'), 'utf8')).toMatch(/^dev:[\w+/]{43}=\n$/);
  });
});
