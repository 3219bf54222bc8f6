import { createInterface } from 'node:readline/promises';
import { createTwoFilesPatch } from 'diff';
import { AGENT_HOOKS, type HookAgent } from '../../core/hook/agents.ts';
import { addHooks, removeHooks } from '../../core/hook/settings-entries.ts';
import { SecondwindError } from '../../protocol/errors.ts';
import { safeLines } from '../show/terminal-text.ts';
import { formatSettings, readSettingsFile, type SettingsFile, writeSettingsFile } from './settings-file.ts';

export interface Installed {
  agent: HookAgent;
  file: string;
  changed: boolean;
  /** The copy of the old settings. Null if nothing was changed or there was no file. */
  backup: string | null;
  /** The person was asked and did not agree. */
  declined: boolean;
}

/** Returns the lines that change, with some lines around them, as `diff -u` shows them. */
const difference = (file: string, before: string | null, after: string): string[] =>
  createTwoFilesPatch(file, file, before ?? '', after, '', '', { context: 2 })
    .split('\n')
    .slice(1)
    .filter((line) => line !== '')
    .map(safeLines);

/** Asks on the terminal. Without one there is nobody to ask. */
const confirm = async (file: string): Promise<boolean> => {
  if (!process.stdin.isTTY || !process.stderr.isTTY) {
    throw new SecondwindError(
      'bad_usage',
      `${file} was not changed: nobody can be asked here.`,
      'Add --yes to write it.',
    );
  }
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  const answer = await terminal.question(`Write ${file}? [y/N] `).finally(() => terminal.close());
  return /^y(?:es)?$/i.test(answer.trim());
};

const change = async (
  agent: HookAgent,
  found: SettingsFile,
  settings: Record<string, unknown>,
  flags: { yes?: boolean },
  show: (lines: readonly string[]) => void,
): Promise<Installed> => {
  const nothing = { agent, file: found.file, changed: false, backup: null, declined: false };
  // Compared as JSON, so that settings with another layout are not written for the layout alone.
  if (JSON.stringify(settings) === JSON.stringify(found.settings)) return nothing;
  const after = formatSettings(settings, found.text);
  show(difference(found.file, found.text, after));
  if (flags.yes !== true && !(await confirm(found.file))) return { ...nothing, declined: true };
  return { ...nothing, changed: true, backup: writeSettingsFile(found, after, new Date()) };
};

/** Shows the difference, asks, and adds the hook to the settings of an agent. */
export const installHook = (
  asked: { agent: HookAgent; path: string; command: string },
  flags: { yes?: boolean },
  show: (lines: readonly string[]) => void,
): Promise<Installed> => {
  const found = readSettingsFile(asked.path);
  return change(asked.agent, found, addHooks(found.settings, asked.agent, asked.command), flags, show);
};

/** Shows the difference, asks, and removes the hook from the settings of an agent. */
export const uninstallHook = (
  asked: { agent: HookAgent; path: string },
  flags: { yes?: boolean },
  show: (lines: readonly string[]) => void,
): Promise<Installed> => {
  const found = readSettingsFile(asked.path);
  return change(asked.agent, found, removeHooks(found.settings), flags, show);
};

/** What to say after an installation. Codex runs hooks only if they are switched on. */
export const afterInstall = (agent: HookAgent): string[] => [
  `${AGENT_HOOKS[agent].title} uses the hook in its next session.`,
  ...(agent === 'codex'
    ? ['Codex runs hooks only with `codex_hooks = true` under [features] in its config.toml.']
    : []),
];
