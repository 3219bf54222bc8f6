import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, readdir, readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, extname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { bundleWorkflowCode, DefaultLogger, type Logger } from '@temporalio/worker';
import { FAILURE_CONVERTER_PATH } from '../client/data-converter.ts';
import { writeWholeFile } from '../stack/machine/write-whole-file.ts';

const SOURCE = fileURLToPath(new URL('..', import.meta.url));
/** The rooms whose files are in the bundle. */
const ROOMS = ['workflows', 'core', 'protocol'];

export interface BundleOptions {
  /** Adds the interceptors that pass a trace on, for a worker with telemetry. */
  traced?: boolean;
  logger?: Logger;
}

/**
 * Bundles the workflows and returns the bundle's path. Bundling takes seconds, so a bundle is cached by the hash of its
 * sources. It is put in place in one step, so that other processes never see an incomplete bundle.
 */
export async function bundleWorkflows(folder: string, options: BundleOptions = {}): Promise<string> {
  const { traced = false, logger = new DefaultLogger('WARN') } = options;
  const kind = traced ? 'workflows-traced' : 'workflows';
  const path = join(folder, `${kind}-${(await hashOfSources(traced)).slice(0, 16)}.cjs`);
  if (existsSync(path)) return path;
  await mkdir(folder, { recursive: true });
  const extension = extname(fileURLToPath(import.meta.url));
  const workflowsPath = join(SOURCE, 'workflows', `index${extension}`);
  const interceptors = join(SOURCE, 'telemetry', `workflow-interceptors${extension}`);
  const { code } = await bundleWorkflowCode({
    workflowsPath,
    failureConverterPath: FAILURE_CONVERTER_PATH,
    logger,
    ...(traced && { workflowInterceptorModules: [interceptors] }),
  });
  await writeWholeFile(path, code, 0o644);
  return path;
}

async function hashOfSources(traced: boolean): Promise<string> {
  const hash = createHash('sha256').update(process.version);
  for (const room of traced ? [...ROOMS, 'telemetry'] : ROOMS) {
    const files = await readdir(join(SOURCE, room), { recursive: true, withFileTypes: true });
    const paths = files.filter((file) => file.isFile()).map((file) => join(file.parentPath, file.name));
    for (const path of paths.sort()) hash.update(path.slice(dirname(SOURCE).length)).update(await readFile(path));
  }
  const sdk = await readFile(createRequire(import.meta.url).resolve('@temporalio/workflow/package.json'));
  return hash.update(sdk).digest('hex');
}
