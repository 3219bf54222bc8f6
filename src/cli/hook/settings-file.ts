import {
  chmodSync,
  existsSync,
  mkdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { AGENT_HOOKS, type HookAgent } from '../../core/hook/agents.ts';
import { settingsProblem } from '../../core/hook/settings-entries.ts';
import { SecondwindError } from '../../protocol/errors.ts';

/** The settings of an agent as they are on disk. */
export interface SettingsFile {
  /** The file that is written: if the named one is a link, as with dotfiles in a repository, what it points to. */
  file: string;
  text: string | null;
  settings: Record<string, unknown>;
}

/** Where an agent reads its hooks: for all projects of the user, or only for the project in a folder. */
export const settingsPath = (agent: HookAgent, scope: 'user' | 'project', env: NodeJS.ProcessEnv): string => {
  const { folder, folderSetting, userFile, projectFile } = AGENT_HOOKS[agent];
  if (scope === 'project') return resolve(folder, projectFile);
  const named = folderSetting === null ? undefined : env[folderSetting];
  return join(named || join(env['HOME'] || homedir(), folder), userFile);
};

/**
 * Reads the settings of an agent. A missing file is empty settings.
 *
 * @throws SecondwindError if the file is not JSON of the shape that the agent documents. It is then left alone.
 */
export const readSettingsFile = (path: string): SettingsFile => {
  const file = existsSync(path) ? realpathSync(path) : path;
  const text = existsSync(file) ? readFileSync(file, 'utf8') : null;
  const refuse = (why: string): SecondwindError =>
    new SecondwindError('bad_usage', `${file} was not changed: ${why}.`, 'Correct the file and try again.');
  let settings: unknown;
  try {
    settings = text === null || text.trim() === '' ? {} : JSON.parse(text.replace(/^\uFEFF/, ''));
  } catch (error) {
    throw refuse(`it is not JSON (${error instanceof Error ? error.message : String(error)})`);
  }
  const problem = settingsProblem(settings);
  if (problem !== null) throw refuse(problem);
  return { file, text, settings: settings as Record<string, unknown> };
};

/** Writes settings with the indentation and the final newline that the file has. */
export const formatSettings = (settings: object, before: string | null): string => {
  const indent = /^[ \t]+(?=")/m.exec(before ?? '')?.[0] ?? '  ';
  const end = before === null || before.endsWith('\n') ? '\n' : '';
  return `${JSON.stringify(settings, null, indent)}${end}`;
};

/**
 * Writes the settings, and before that a copy of the old ones beside them. Returns the path of the copy; null if there
 * was no file.
 *
 * @throws SecondwindError if the file has changed since it was read.
 */
export const writeSettingsFile = ({ file, text: before }: SettingsFile, after: string, now: Date): string | null => {
  const current = existsSync(file) ? readFileSync(file, 'utf8') : null;
  if (current !== before) {
    throw new SecondwindError('bad_usage', `${file} has changed in the meantime.`, 'Run the command again.');
  }
  mkdirSync(dirname(file), { recursive: true });
  const mode = before === null ? 0o600 : statSync(file).mode & 0o777;
  const backup = before === null ? null : `${file}.backup-${now.toISOString().replaceAll(/[-:]|\.\d+/g, '')}`;
  if (backup !== null && before !== null) writeFileSync(backup, before, { mode });
  const temporary = `${file}.${process.pid}.tmp`;
  writeFileSync(temporary, after, { mode });
  // The mode of a new file is limited by the umask.
  chmodSync(temporary, mode);
  renameSync(temporary, file);
  return backup;
};
