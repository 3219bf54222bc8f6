import { homedir } from 'node:os';
import { join } from 'node:path';

/**
 * Programs are cached outside the repository, so that a fresh clone or `npm ci` does not download or build them again.
 */
export function cacheDir(env: NodeJS.ProcessEnv, platform: NodeJS.Platform = process.platform): string {
  if (env['SECONDWIND_CACHE_DIR']) return env['SECONDWIND_CACHE_DIR'];
  if (env['XDG_CACHE_HOME']) return join(env['XDG_CACHE_HOME'], 'secondwind');
  const home = env['HOME'] || homedir();
  return platform === 'darwin' ? join(home, 'Library', 'Caches', 'secondwind') : join(home, '.cache', 'secondwind');
}
