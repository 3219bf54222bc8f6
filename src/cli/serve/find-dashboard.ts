import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { type DashboardFiles, readDashboard } from '../../api/dashboard/dashboard-files.ts';

const SOURCE = fileURLToPath(new URL('../../', import.meta.url));
const ROOT = join(SOURCE, '..');
const SCRIPT = join(ROOT, 'scripts', 'build-dashboard.mjs');
/** What the built files depend on: the dashboard, the rooms that it may import, and the versions of packages. */
const INPUTS = ['dashboard', 'client', 'core', 'protocol'].map((room) => join(SOURCE, room));

/**
 * Returns the files of the dashboard. The package contains them. A clone builds them when they are needed for the first time, and
 * again when a source file has changed; the result is kept in `node_modules/.cache`. Without a dashboard the API still works, so a
 * failed build is reported and returns undefined.
 */
export async function findDashboard(say: (line: string) => void): Promise<DashboardFiles | undefined> {
  try {
    return await readDashboard(await dashboardFolder());
  } catch (error) {
    say(`The dashboard is not served: ${error instanceof Error ? error.message : String(error)}`);
    return undefined;
  }
}

async function dashboardFolder(): Promise<string> {
  if (!import.meta.url.endsWith('.ts')) return join(SOURCE, 'dashboard');
  const folder = join(ROOT, 'node_modules', '.cache', 'secondwind-dashboard', await hashOfInputs());
  if (!existsSync(folder)) await promisify(execFile)(process.execPath, [SCRIPT, folder], { cwd: ROOT });
  return folder;
}

async function hashOfInputs(): Promise<string> {
  const hash = createHash('sha256');
  const files = [SCRIPT, join(ROOT, 'package-lock.json')];
  for (const folder of INPUTS) {
    for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
      if (entry.isFile()) files.push(join(entry.parentPath, entry.name));
    }
  }
  for (const file of files.sort())
    hash
      .update(file)
      .update('\0')
      .update(await readFile(file))
      .update('\0');
  return hash.digest('hex').slice(0, 16);
}
