/**
 * Compiles the sources and the programs that tests start to plain JavaScript, once per test run. With tsx a process
 * takes two to three times as long to start, and the tests start about two hundred. Users run the compiled programs as
 * well.
 */
import { existsSync, readdirSync } from 'node:fs';
import { copyFile, mkdir, mkdtemp, readdir, rm, stat } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const ROOMS = ['src', 'bench', 'eval', 'test/support'];
/** Inside the project, so that packages are resolved from there. */
const PARENT = join(ROOT, 'node_modules', '.cache');
const PREFIX = 'secondwind-programs-';
const OLD_MS = 60 * 60_000;

interface Resolving {
  path: string;
  kind: string;
}
interface Esbuild {
  build: (options: object) => Promise<unknown>;
}
interface EsbuildPlugin {
  onResolve: (where: { filter: RegExp }, how: (asked: Resolving) => object | undefined) => void;
}

export interface Programs {
  folder: string;
  remove: () => Promise<void>;
}

export async function buildPrograms(): Promise<Programs> {
  await mkdir(PARENT, { recursive: true });
  await removeThoseOfKilledRuns();
  const folder = await mkdtemp(join(PARENT, PREFIX));
  const remove = (): Promise<void> => rm(folder, { recursive: true, force: true });
  try {
    // The esbuild that tsx itself uses.
    const { build } = createRequire(createRequire(import.meta.url).resolve('tsx'))('esbuild') as Esbuild;
    await build({
      absWorkingDir: ROOT,
      entryPoints: ROOMS.flatMap((room) => sourcesIn(room, '.ts')),
      outdir: folder,
      outbase: ROOT,
      bundle: true,
      packages: 'external',
      platform: 'node',
      format: 'esm',
      target: 'node20',
      logLevel: 'warning',
      plugins: [{ name: 'each file for itself', setup: keepFilesApart }],
    });
    for (const file of ROOMS.flatMap((room) => sourcesIn(room, '.cjs'))) {
      await copyFile(file, join(folder, relative(ROOT, file)));
    }
    // The programs read their version from it, and Node the type of their modules.
    await copyFile(join(ROOT, 'package.json'), join(folder, 'package.json'));
  } catch (error) {
    await remove();
    throw error;
  }
  return { folder, remove };
}

/** Files find each other by `import.meta.url`, so they keep their relative paths. */
function keepFilesApart({ onResolve }: EsbuildPlugin): void {
  onResolve({ filter: /^\.{1,2}\// }, ({ path, kind }) =>
    kind === 'entry-point' ? undefined : { path: path.replace(/\.ts$/, '.js'), external: true },
  );
}

function sourcesIn(room: string, extension: '.ts' | '.cjs'): string[] {
  return readdirSync(join(ROOT, room), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith(extension))
    .map((name) => join(ROOT, room, name));
}

async function removeThoseOfKilledRuns(): Promise<void> {
  for (const name of await readdir(PARENT)) {
    const folder = join(PARENT, name);
    if (!name.startsWith(PREFIX) || !existsSync(folder)) continue;
    const age = Date.now() - (await stat(folder).then((found) => found.mtimeMs, Date.now));
    if (age > OLD_MS) await rm(folder, { recursive: true, force: true });
  }
}
