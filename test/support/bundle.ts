import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { cacheDir } from '../../src/stack/machine/cache-dir.ts';
import { bundleWorkflows } from '../../src/worker/bundle-workflows.ts';

const KEPT = join(cacheDir(process.env), 'workflows');

/** Bundling takes seconds, so it is done once for the same sources, to a file that every worker of every test loads. */
export const bundleForTests = (): Promise<string> => bundleWorkflows(KEPT);

/** The same for the built programs, before several of them find at once that there is none and all make one. */
export async function bundleForPrograms(folder: string): Promise<void> {
  const built = pathToFileURL(join(folder, 'src', 'worker', 'bundle-workflows.js')).href;
  const { bundleWorkflows: bundleBuilt } = (await import(built)) as { bundleWorkflows: typeof bundleWorkflows };
  await bundleBuilt(KEPT);
}
