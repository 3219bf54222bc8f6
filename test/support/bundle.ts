import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { cacheDir } from '../../src/stack/machine/cache-dir.ts';
import type { BundleOptions, bundleWorkflows } from '../../src/worker/bundle-workflows.ts';

/**
 * The bundle of the built programs, for every worker of every test. It is kept under the hash of its sources, so that the
 * programs find it when they start: bundling takes seconds, and several of them would do it at once.
 */
export async function bundleOfPrograms(folder: string, options: BundleOptions = {}): Promise<string> {
  const built = pathToFileURL(join(folder, 'src', 'worker', 'bundle-workflows.js')).href;
  const { bundleWorkflows: bundleBuilt } = (await import(built)) as { bundleWorkflows: typeof bundleWorkflows };
  return bundleBuilt(join(cacheDir(process.env), 'workflows'), options);
}
