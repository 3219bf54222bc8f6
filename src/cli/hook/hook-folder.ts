import { join } from 'node:path';
import { defaultDataDir } from '../../stack/machine/default-data-dir.ts';

/** Where the hook keeps its sessions and its log. It does not read other settings, because it has to start fast. */
export const hookFolder = (env: NodeJS.ProcessEnv, dataDir?: string): string =>
  join(dataDir ?? (env['SECONDWIND_DATA_DIR'] || defaultDataDir(env)), 'hook');

export const sessionsFolder = (folder: string): string => join(folder, 'sessions');
