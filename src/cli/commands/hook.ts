import type { Command } from 'commander';
import type { HookAgent } from '../../core/hook/agents.ts';

interface HookFlags {
  agent?: string;
  mode?: string;
  scope?: string;
  settings?: string;
  policy?: string;
  dataDir?: string;
  session?: string;
  yes?: boolean;
  json?: boolean;
}

export function addHook(program: Command): void {
  program
    .command('hook [action]')
    .description(
      'guard a coding agent around each of its tool calls: install, uninstall, status, report; the agent calls `run`',
    )
    .option('--agent <name>', 'the agent: claude, codex or gemini (default: claude)')
    .option('--mode <mode>', 'install: observe, guide or enforce (default: guide)')
    .option('--scope <scope>', 'user (all projects, the default) or project (this folder)')
    .option('--settings <file>', 'the settings file of the agent, instead of the one of the scope')
    .option('--policy <file>', 'install: the policy of the guard')
    .option('--session <id>', 'report: the session whose id begins with this (default: all)')
    .option('--yes', 'install and uninstall: write without asking')
    .option('--data-dir <folder>', 'the folder with the sessions of the hook (default: SECONDWIND_DATA_DIR)')
    .option('--json', 'print JSON')
    .action(async (action: string | undefined, flags: HookFlags) => {
      switch (action ?? 'status') {
        case 'install':
          return install(flags);
        case 'uninstall':
          return uninstall(flags);
        case 'status':
          return status(flags);
        case 'report':
          return report(flags);
        default:
          throw await badUsage(
            `The action ${action} is unknown.`,
            'Use install, uninstall, status, report or, for an agent, run.',
          );
      }
    });
}

async function badUsage(what: string, next: string): Promise<Error> {
  const { SecondwindError } = await import('../../protocol/errors.ts');
  return new SecondwindError('bad_usage', what, next);
}

async function readAgent(agent = 'claude'): Promise<HookAgent> {
  const { HOOK_AGENTS } = await import('../../core/hook/agents.ts');
  const known = HOOK_AGENTS.find((name) => name === agent);
  if (known === undefined) throw await badUsage(`--agent ${agent} is unknown.`, `Use ${HOOK_AGENTS.join(', ')}.`);
  return known;
}

async function readMode(mode = 'guide'): Promise<string> {
  if (['observe', 'guide', 'enforce'].includes(mode)) return mode;
  throw await badUsage(`--mode ${mode} is unknown.`, 'Use observe, guide or enforce.');
}

async function pathOf(agent: HookAgent, { settings, scope = 'user' }: HookFlags): Promise<string> {
  const { settingsPath } = await import('../hook/settings-file.ts');
  if (settings !== undefined) return settings;
  if (scope === 'user' || scope === 'project') return settingsPath(agent, scope, process.env);
  throw await badUsage(`--scope ${scope} is unknown.`, 'Use user or project.');
}

const showOnStderr = (lines: readonly string[]): void => void process.stderr.write(`${lines.join('\n')}\n`);

async function install(flags: HookFlags): Promise<void> {
  const [{ afterInstall, installHook }, { hookCommand, isTemporary }, { print }] = await Promise.all([
    import('../hook/install-hook.ts'),
    import('../hook/hook-command.ts'),
    import('../show/print.ts'),
  ]);
  const agent = await readAgent(flags.agent);
  const { policy, dataDir } = flags;
  const { readPolicy } = await import('../read-input.ts');
  const patch = policy === undefined ? undefined : await readPolicy(policy);
  const mode = await readMode(flags.mode ?? patch?.mode);
  const command = hookCommand({ agent, mode, policy, dataDir });
  if (isTemporary(command)) {
    throw await badUsage(
      'This program is in the cache of npx, which npm empties from time to time.',
      'Install it first: npm install --global secondwind.',
    );
  }
  const done = await installHook({ agent, path: await pathOf(agent, flags), command }, flags, showOnStderr);
  print(flags, { ...done, mode, command }, () => [
    ...resultLines(done, `The hook is installed in ${done.file} already.`, `Installed in ${done.file}, mode ${mode}.`),
    ...(done.changed ? afterInstall(agent) : []),
  ]);
}

async function uninstall(flags: HookFlags): Promise<void> {
  const [{ uninstallHook }, { print }] = await Promise.all([
    import('../hook/install-hook.ts'),
    import('../show/print.ts'),
  ]);
  const agent = await readAgent(flags.agent);
  const done = await uninstallHook({ agent, path: await pathOf(agent, flags) }, flags, showOnStderr);
  print(flags, done, () => resultLines(done, `${done.file} has no hook of ours.`, `Removed from ${done.file}.`));
}

const resultLines = (
  done: { changed: boolean; declined: boolean; backup: string | null },
  nothing: string,
  changed: string,
): string[] => {
  if (done.declined) return ['Nothing was changed.'];
  if (!done.changed) return [nothing];
  return [changed, ...(done.backup === null ? [] : [`The old settings are in ${done.backup}.`])];
};

async function status(flags: HookFlags): Promise<void> {
  const [{ hookStatus, statusLines }, { print }] = await Promise.all([
    import('../hook/hook-status.ts'),
    import('../show/print.ts'),
  ]);
  const found = hookStatus(process.env, flags.dataDir);
  print(flags, found, () => statusLines(found));
}

async function report(flags: HookFlags): Promise<void> {
  const [{ hookFolder, sessionsFolder }, { readSessions }, { reportSession, sessionLines }, { print }] =
    await Promise.all([
      import('../hook/hook-folder.ts'),
      import('../hook/session-file.ts'),
      import('../hook/hook-report.ts'),
      import('../show/print.ts'),
    ]);
  const all = readSessions(sessionsFolder(hookFolder(process.env, flags.dataDir)));
  const asked = all.filter(({ session }) => session.startsWith(flags.session ?? ''));
  if (asked.length === 0 && flags.session !== undefined) {
    throw await badUsage(`No session begins with ${flags.session}.`, '`secondwind hook report` lists all of them.');
  }
  const sessions = asked.map(reportSession);
  print(flags, { sessions }, () =>
    sessions.length === 0 ? ['The hook has seen no session yet.'] : sessions.flatMap(sessionLines),
  );
}
