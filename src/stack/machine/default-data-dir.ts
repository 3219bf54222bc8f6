import { homedir } from 'node:os';
import { join } from 'node:path';

/** The default data folder: where the operating system keeps application data, because databases outlive a clone of the repository. */
export function defaultDataDir(env: NodeJS.ProcessEnv, platform: NodeJS.Platform = process.platform): string {
  if (env['XDG_DATA_HOME']) return join(env['XDG_DATA_HOME'], 'secondwind');
  const home = env['HOME'] || homedir();
  return platform === 'darwin'
    ? join(home, 'Library', 'Application Support', 'secondwind')
    : join(home, '.local', 'share', 'secondwind');
}
