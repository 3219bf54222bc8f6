/** Which keys a process has, and what it is told about keys that cannot be used. Needs no server. */
import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { encryptionFrom, encryptionKeyFile, encryptionOfDataDir } from '../../../src/encryption/settings.ts';

const key = (fill: number): string => Buffer.alloc(32, fill).toString('base64');
const withKeys = (keys: string, more: NodeJS.ProcessEnv = {}): NodeJS.ProcessEnv => ({
  SECONDWIND_ENCRYPTION_KEYS: keys,
  ...more,
});

describe('keys from the environment', () => {
  it('the first one encrypts, and all of them decrypt', () => {
    const old = encryptionFrom(withKeys(`a:${key(1)}`)).seal(Buffer.from('x'), { scope: 'run' });
    const both = encryptionFrom(withKeys(` b:${key(2)}, a:${key(1)} ,`));
    expect(both.keyIds).toEqual(['b', 'a']);
    expect(Buffer.from(both.open(old)).toString()).toBe('x');
    expect(both.seal(Buffer.from('y'), { scope: 'run' }).mainKey).toMatch(/^b:/);
  });

  it('without a key, or switched off, nothing is encrypted', () => {
    expect(encryptionFrom({}).isOn).toBe(false);
    expect(encryptionFrom(withKeys(`a:${key(1)}`, { SECONDWIND_ENCRYPTION: 'off' })).isOn).toBe(false);
  });

  it('the same setting is the same object, so that all parts of a process share data keys', () => {
    const env = withKeys(`a:${key(1)}`);
    expect(encryptionFrom(env)).toBe(encryptionFrom({ ...env }));
  });

  it.each([
    ['a', /no colon in entry 1 of SECONDWIND_ENCRYPTION_KEYS/],
    [`a:${key(1)},b`, /entry 2/],
    [`sp ace:${key(1)}`, /id in entry 1/],
    [`a:${Buffer.alloc(16, 1).toString('base64')}`, /key a .* is not 32 bytes in base64/],
    ['a:not base64 at all', /is not 32 bytes/],
    [`a:${key(1)},a:${key(2)}`, /names the key a twice/],
  ])('a malformed list (%s) is refused, and the message quotes no key', (keys, said) => {
    const attempt = () => encryptionFrom(withKeys(keys));
    expect(attempt).toThrow(said);
    expect(attempt).not.toThrow(new RegExp(key(1).slice(0, 12)));
  });

  it('a switch that is neither on nor off is refused, and so is "on" without a key', () => {
    expect(() => encryptionFrom({ SECONDWIND_ENCRYPTION: 'yes' })).toThrow(/neither on nor off/);
    expect(() => encryptionFrom({ SECONDWIND_ENCRYPTION: 'on' })).toThrow(/names no key/);
  });
});

describe('the key of a data folder', () => {
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'secondwind-key-'));
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));

  it('is made once, readable by its owner only, and kept', async () => {
    const dataDir = join(folder, 'kept');
    const first = await encryptionOfDataDir({}, dataDir);
    expect((await stat(encryptionKeyFile(dataDir))).mode & 0o777).toBe(0o600);
    const sealed = first.seal(Buffer.from('x'), { scope: 'run' });
    const second = await encryptionOfDataDir({}, dataDir);
    expect(Buffer.from(second.open(sealed)).toString()).toBe('x');
  });

  it('can be given to another process as its setting', async () => {
    const dataDir = join(folder, 'given');
    const sealed = (await encryptionOfDataDir({}, dataDir)).seal(Buffer.from('x'), { scope: 'run' });
    const other = encryptionFrom(withKeys(await readFile(encryptionKeyFile(dataDir), 'utf8')));
    expect(Buffer.from(other.open(sealed)).toString()).toBe('x');
  });

  it('still decrypts when the environment names another key, or turns encryption off', async () => {
    const dataDir = join(folder, 'both');
    const sealed = (await encryptionOfDataDir({}, dataDir)).seal(Buffer.from('x'), { scope: 'run' });
    const other = await encryptionOfDataDir(withKeys(`a:${key(1)}`), dataDir);
    expect(other.keyIds).toEqual(['a', 'dev']);
    expect(Buffer.from(other.open(sealed)).toString()).toBe('x');
    const off = await encryptionOfDataDir({ SECONDWIND_ENCRYPTION: 'off' }, dataDir);
    expect(off.isOn).toBe(false);
    expect(Buffer.from(off.open(sealed)).toString()).toBe('x');
  });

  it('an empty key file is told, because a new key could not read what is there', async () => {
    const dataDir = join(folder, 'empty');
    await encryptionOfDataDir({}, dataDir);
    await writeFile(encryptionKeyFile(dataDir), '');
    await expect(encryptionOfDataDir({}, dataDir)).rejects.toThrow(/has no key/);
  });
});
