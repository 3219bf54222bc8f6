import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, readdir, readFile, rename, writeFile } from 'node:fs/promises';
import { dirname, extname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { bundleWorkflowCode, DefaultLogger } from '@temporalio/worker';

const SOURCE = fileURLToPath(new URL('..', import.meta.url));
/** What ends up in the bundle lives in these rooms. */
const ROOMS = ['workflows', 'core', 'protocol'];

/**
 * Bundling takes seconds, so a bundle is kept under the hash of its sources and made again only when they change.
 * Written beside and renamed, so that two processes never see half a bundle.
 */
export async function bundleWorkflows(folder: string): Promise<string> {
  const path = join(folder, `workflows-${(await hashOfSources()).slice(0, 16)}.cjs`);
  if (existsSync(path)) return path;
  await mkdir(folder, { recursive: true });
  const extension = extname(fileURLToPath(import.meta.url));
  const workflowsPath = join(SOURCE, 'workflows', `index${extension}`);
  const { code } = await bundleWorkflowCode({ workflowsPath, logger: new DefaultLogger('WARN') });
  const unfinished = `${path}.${process.pid}`;
  await writeFile(unfinished, code);
  await rename(unfinished, path);
  return path;
}

async function hashOfSources(): Promise<string> {
  const hash = createHash('sha256').update(process.version);
  for (const room of ROOMS) {
    const files = await readdir(join(SOURCE, room), { recursive: true, withFileTypes: true });
    const paths = files.filter((file) => file.isFile()).map((file) => join(file.parentPath, file.name));
    for (const path of paths.sort()) hash.update(path.slice(dirname(SOURCE).length)).update(await readFile(path));
  }
  const sdk = await readFile(fileURLToPath(import.meta.resolve('@temporalio/workflow/package.json')));
  return hash.update(sdk).digest('hex');
}
