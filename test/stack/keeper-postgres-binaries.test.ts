/** The npm package as it is installed with scripts off: without the links between its libraries. */
import { existsSync, lstatSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeEach, expect, it, onTestFinished } from 'vitest';
import { preparePostgresBinaries } from '../../src/stack/postgres/binaries.ts';

let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'secondwind-test-binaries-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
});

function packageFolder(): string {
  const native = join(folder, 'package', 'native');
  mkdirSync(join(native, 'lib'), { recursive: true });
  mkdirSync(join(native, 'bin'));
  writeFileSync(join(native, '..', 'package.json'), '{"version": "18.0.0"}');
  writeFileSync(join(native, 'bin', 'postgres'), '');
  writeFileSync(join(native, 'lib', 'libpq.so.5.18'), 'library');
  const links = [{ source: 'native/lib/libpq.so.5.18', target: 'native/lib/libpq.so.5' }];
  writeFileSync(join(native, 'pg-symlinks.json'), JSON.stringify(links));
  return native;
}

it('the missing links are made in the cache, and the package stays as it is', async () => {
  const native = packageFolder();
  const cache = join(folder, 'cache');
  const { postgres } = await preparePostgresBinaries(cache, native);
  const link = join(postgres, '..', '..', 'lib', 'libpq.so.5');
  expect(lstatSync(link).isSymbolicLink()).toBe(true);
  expect(readFileSync(link, 'utf8')).toBe('library');
  expect(existsSync(join(native, 'lib', 'libpq.so.5'))).toBe(false);
});

it('two who prepare them at once get the same complete folder', async () => {
  const native = packageFolder();
  const cache = join(folder, 'cache');
  const all = await Promise.all(Array.from({ length: 4 }, () => preparePostgresBinaries(cache, native)));
  expect(new Set(all.map(({ postgres }) => postgres)).size).toBe(1);
  expect(existsSync(all[0]?.postgres ?? '')).toBe(true);
});
