/** The coding agents whose hooks are supported. */
export const HOOK_AGENTS = ['claude', 'codex', 'gemini'] as const;
export type HookAgent = (typeof HOOK_AGENTS)[number];

/** What an event of an agent means here. */
export type HookMoment = 'before' | 'after' | 'user' | 'end';

interface AgentHooks {
  title: string;
  /** The folder of the agent's settings in the home folder and in a project, and the file with its hooks. */
  folder: string;
  userFile: string;
  projectFile: string;
  /** Names the folder instead, if the agent is told to use another one. */
  folderSetting: string | null;
  /** The events that the hook asks for. Events with a tool have a matcher, which is for all tools. */
  events: Readonly<Record<string, HookMoment>>;
  timeout: number;
}

const TIMEOUT_SECONDS = 10;

/**
 * Claude Code and Codex document the same events, but Codex has no event of its own for a failed call. Gemini CLI has
 * other names and counts milliseconds.
 */
export const AGENT_HOOKS: Readonly<Record<HookAgent, AgentHooks>> = {
  claude: {
    title: 'Claude Code',
    folder: '.claude',
    userFile: 'settings.json',
    // The command contains paths of this machine, so it belongs into the file that is not committed.
    projectFile: 'settings.local.json',
    folderSetting: 'CLAUDE_CONFIG_DIR',
    events: {
      PreToolUse: 'before',
      PostToolUse: 'after',
      PostToolUseFailure: 'after',
      UserPromptSubmit: 'user',
      Stop: 'end',
    },
    timeout: TIMEOUT_SECONDS,
  },
  codex: {
    title: 'Codex',
    folder: '.codex',
    userFile: 'hooks.json',
    projectFile: 'hooks.json',
    folderSetting: 'CODEX_HOME',
    events: { PreToolUse: 'before', PostToolUse: 'after', UserPromptSubmit: 'user', Stop: 'end' },
    timeout: TIMEOUT_SECONDS,
  },
  gemini: {
    title: 'Gemini CLI',
    folder: '.gemini',
    userFile: 'settings.json',
    projectFile: 'settings.json',
    folderSetting: null,
    events: { BeforeTool: 'before', AfterTool: 'after', BeforeAgent: 'user', AfterAgent: 'end' },
    timeout: TIMEOUT_SECONDS * 1000,
  },
};
