import { AGENT_HOOKS, HOOK_AGENTS, type HookAgent } from '../../core/hook/agents.ts';
import { findOwnHooks } from '../../core/hook/settings-entries.ts';
import { count, minute, oneLine } from '../show/terminal-text.ts';
import { hookFolder, sessionsFolder } from './hook-folder.ts';
import { lastLogLine } from './hook-log.ts';
import { readSessions } from './session-file.ts';
import { readSettingsFile, settingsPath } from './settings-file.ts';

interface InstalledHook {
  agent: HookAgent;
  file: string;
  /** The mode in which the hook runs; null if it is not installed. */
  mode: string | null;
  /** Events of the agent without our hook, because the settings were edited or an older version installed it. */
  missing: string[];
  problem: string | null;
}

interface HookStatus {
  hooks: InstalledHook[];
  sessions: number;
  last_call_at: string | null;
  last_log_line: string | null;
}

const lookInto = (agent: HookAgent, file: string): InstalledHook => {
  const none = { agent, file, mode: null, missing: [], problem: null };
  try {
    const found = findOwnHooks(readSettingsFile(file).settings);
    const command = Object.values(found).flat()[0];
    if (command === undefined) return none;
    const missing = Object.keys(AGENT_HOOKS[agent].events).filter((event) => found[event] === undefined);
    return { ...none, mode: /--mode (\w+)/.exec(command)?.[1] ?? 'unknown', missing };
  } catch (error) {
    return { ...none, problem: error instanceof Error ? error.message : String(error) };
  }
};

/** Where the hook is installed, and what it has seen. */
export const hookStatus = (env: NodeJS.ProcessEnv, dataDir?: string): HookStatus => {
  const folder = hookFolder(env, dataDir);
  const sessions = readSessions(sessionsFolder(folder));
  const hooks = HOOK_AGENTS.flatMap((agent) =>
    (['user', 'project'] as const).map((scope) => lookInto(agent, settingsPath(agent, scope, env))),
  );
  return {
    hooks,
    sessions: sessions.length,
    last_call_at: sessions[0]?.updated_at ?? null,
    last_log_line: lastLogLine(folder),
  };
};

export const statusLines = ({ hooks, sessions, last_call_at, last_log_line }: HookStatus): string[] => {
  const shown = hooks.filter(({ mode, problem }) => mode !== null || problem !== null);
  return [
    ...(shown.length === 0 ? ['Not installed. `secondwind hook install` adds the hook to Claude Code.'] : []),
    ...shown.map(({ agent, file, mode, missing, problem }) => {
      if (problem !== null) return `${AGENT_HOOKS[agent].title}: ${oneLine(problem)}`;
      const gaps = missing.length === 0 ? '' : `, but not at ${missing.join(', ')}: install it again`;
      return `${AGENT_HOOKS[agent].title}: installed in ${file}, mode ${mode}${gaps}`;
    }),
    sessions === 0
      ? 'The hook has seen no session yet.'
      : `${count(sessions, 'session')}, the latest ${minute(last_call_at)}.`,
    ...(last_log_line === null ? [] : [`Last line of the log: ${oneLine(last_log_line)}`]),
  ];
};
