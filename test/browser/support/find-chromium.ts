/** Finds a Chromium for the browser tests, or installs Debian's. Playwright's own download needs the internet. */
import { execFileSync } from 'node:child_process';
import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';

const NAMES = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable', 'chrome'];

/** Returns the path of the program. Throws with what to do if there is none and it cannot be installed. */
export function findChromium(env: NodeJS.ProcessEnv = process.env): string {
  const given = env['SECONDWIND_CHROMIUM'];
  if (given !== undefined) return given;
  const found = onPath(env);
  if (found !== undefined) return found;
  installDebian();
  const installed = onPath(env);
  if (installed !== undefined) return installed;
  throw new Error('apt-get installed the package chromium, but no program of it is on the PATH.');
}

function onPath(env: NodeJS.ProcessEnv): string | undefined {
  const folders = [...(env['PATH'] ?? '').split(delimiter), '/usr/bin'];
  return folders.flatMap((folder) => NAMES.map((name) => join(folder, name))).find(isProgram);
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

function installDebian(): void {
  const apt = (...words: string[]) =>
    execFileSync('apt-get', words, {
      env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
      stdio: ['ignore', 'ignore', 'inherit'],
    });
  try {
    console.log('No Chromium on the PATH: installing the package chromium with apt-get.');
    apt('update', '-qq');
    apt('install', '-y', '-qq', '--no-install-recommends', 'chromium', 'fonts-dejavu-core');
  } catch (error) {
    throw new Error(
      'The browser tests need Chromium. Install it (on Debian: apt-get install chromium), or name its path in SECONDWIND_CHROMIUM.',
      { cause: error },
    );
  }
}
