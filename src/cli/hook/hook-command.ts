import { resolve } from 'node:path';
import type { HookAgent } from '../../core/hook/agents.ts';

const quote = (part: string): string =>
  /^[\w@%+=:,./-]+$/.test(part) ? part : `"${part.replaceAll(/(["$`\\])/g, '\\$1')}"`;

/**
 * The command that an agent runs: this program with its full path and this Node, because the agent may have another
 * PATH, and because `npx` alone takes longer than the hook.
 */
export const hookCommand = (asked: {
  agent: HookAgent;
  mode: string;
  policy?: string | undefined;
  dataDir?: string | undefined;
}): string => {
  const main = process.argv[1] ?? 'secondwind';
  return [
    ...[process.execPath, ...process.execArgv, main].map(quote),
    'hook run --agent',
    asked.agent,
    '--mode',
    asked.mode,
    ...(asked.policy === undefined ? [] : ['--policy', quote(resolve(asked.policy))]),
    ...(asked.dataDir === undefined ? [] : ['--data-dir', quote(resolve(asked.dataDir))]),
  ].join(' ');
};

/** npm removes what `npx` has downloaded sooner or later, and then the agent could not start its hook. */
export const isTemporary = (command: string): boolean => /[/\\]_npx[/\\]/.test(command);
