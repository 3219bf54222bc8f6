import { existsSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { DefaultLogger, bundleWorkflowCode } from '@temporalio/worker';

const WORKFLOWS = fileURLToPath(new URL('../../src/workflows/index.ts', import.meta.url));

/** Bundling takes seconds, so it is done once, to a file that every worker of every test file loads. */
export async function bundleWorkflows(folder: string): Promise<string> {
  if (!existsSync(WORKFLOWS)) return '';
  const { code } = await bundleWorkflowCode({ workflowsPath: WORKFLOWS, logger: new DefaultLogger('WARN') });
  const path = join(folder, 'workflow-bundle.cjs');
  await writeFile(path, code);
  return path;
}
