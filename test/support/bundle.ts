import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { cacheDir } from '../../src/stack/machine/cache-dir.ts';
import type { BundleOptions, bundleWorkflows } from '../../src/worker/bundle-workflows.ts';

/**
 * The workflow bundle of the built programs, for every worker of every test. It is cached by the hash of its sources,
 * so that the programs find it when they start. Otherwise several of them would bundle at once, which takes seconds.
 */
export async function bundleOfPrograms(folder: string, options: BundleOptions = {}): Promise<string> {
  const built = pathToFileURL(join(folder, 'src', 'worker', 'bundle-workflows.js')).href;
  const { bundleWorkflows: bundleBuilt } = (await import(built)) as { bundleWorkflows: typeof bundleWorkflows };
  return bundleBuilt(join(cacheDir(process.env), 'workflows'), options);
}
