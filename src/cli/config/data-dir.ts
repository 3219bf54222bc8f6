import { homedir } from 'node:os';
import { join } from 'node:path';

/** Databases outlive a clone of the repository, so they live where the system keeps data of programs. */
export function defaultDataDir(env: NodeJS.ProcessEnv, platform: NodeJS.Platform = process.platform): string {
  if (env['XDG_DATA_HOME']) return join(env['XDG_DATA_HOME'], 'secondwind');
  const home = env['HOME'] || homedir();
  return platform === 'darwin'
    ? join(home, 'Library', 'Application Support', 'secondwind')
    : join(home, '.local', 'share', 'secondwind');
}
