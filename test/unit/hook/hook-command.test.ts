/** `secondwind hook` as an agent and its user call it: as processes, with a home folder of their own. Needs nothing. */
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { hookCli, startHookCli } from '../../support/hook-process.ts';

let home = '';
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'secondwind-hook-'));
});
afterEach(() => rmSync(home, { recursive: true, force: true }));

const RUN = ['run', '--agent', 'claude', '--mode', 'enforce'];
const event = (name: string, more: object = {}, session_id = 's1'): string =>
  JSON.stringify({ session_id, hook_event_name: name, tool_name: 'Bash', tool_input: { command: 'make' }, ...more });
const failing = (session = 's1'): string =>
  event('PostToolUseFailure', { error: 'Exit code 2\nmake: no rule' }, session);
const report = (): Record<string, unknown>[] =>
  (JSON.parse(hookCli(home, '', 'report', '--json').stdout) as { sessions: Record<string, unknown>[] }).sessions;
const sessions = (): string[] => readdirSync(join(home, 'data/hook/sessions'));

// Each command is a process of its own, and the machine may be busy.
describe('hook run', { timeout: 60_000 }, () => {
  it('stops an agent whose call fails again and again, refuses the call after that, and goes on after a message', () => {
    expect(hookCli(home, failing(), ...RUN)).toEqual({ status: 0, stdout: '', stderr: '' });
    hookCli(home, failing(), ...RUN);
    expect(JSON.parse(hookCli(home, failing(), ...RUN).stdout)).toEqual({
      continue: false,
      stopReason: expect.stringMatching(
        /^Secondwind stopped the agent: it is stuck \(calls 1 to 3\)\. The same call failed/,
      ),
    });
    expect(JSON.parse(hookCli(home, event('PreToolUse'), ...RUN).stdout)).toMatchObject({
      hookSpecificOutput: { permissionDecision: 'deny' },
    });
    expect(hookCli(home, event('UserPromptSubmit', { prompt: 'try cmake' }), ...RUN).stdout).toBe('');
    expect(hookCli(home, event('PreToolUse'), ...RUN).stdout).toBe('');
    expect(report()).toMatchObject([{ session: 's1', loops: [{ rule: 'same_call_failing', would_stop_at: 3 }] }]);
  });

  it('tells the user once at the end of a turn, also in observe mode', () => {
    const observe = ['run', '--agent', 'claude', '--mode', 'observe'];
    for (let call = 1; call <= 4; call += 1) expect(hookCli(home, failing(), ...observe).stdout).toBe('');
    expect(JSON.parse(hookCli(home, event('Stop'), ...observe).stdout)).toEqual({
      systemMessage: expect.stringContaining('the agent was stuck (calls 1 to 4)'),
    });
    expect(hookCli(home, event('Stop'), ...observe).stdout).toBe('');
  });

  it.each([
    ['nothing', ''],
    ['not JSON', 'hello {'],
    ['a number', '7'],
    ['an event of another version', '{"session_id":"s","hook_event_name":"PreEverything"}'],
    ['a NUL', '\0\0\0'],
    ['deep nesting', '['.repeat(100_000)],
  ])('answers nothing, exits with 0 and logs one line if the input is %s', (_what, input) => {
    const { status, stdout, stderr } = hookCli(home, input, ...RUN);
    expect({ status, stdout }).toEqual({ status: 0, stdout: '' });
    expect(stderr).toBe('secondwind hook: the input is not a known event of claude and was ignored\n');
    expect(readFileSync(join(home, 'data/hook/hook.log'), 'utf8').trimEnd().split('\n')).toHaveLength(1);
  });

  it('runs without an action too, because an agent has no terminal', () => {
    expect(hookCli(home, 'hello')).toMatchObject({ status: 0, stdout: '' });
  });

  it('fails open: an unwritable folder, a broken policy and a session that was damaged stop nothing', () => {
    expect(hookCli(home, failing(), ...RUN, '--policy', join(home, 'none.json'))).toMatchObject({
      status: 0,
      stdout: '',
      stderr: expect.stringContaining('the agent goes on'),
    });
    writeFileSync(join(home, 'file'), '');
    expect(hookCli(home, failing(), ...RUN, '--data-dir', join(home, 'file'))).toMatchObject({ status: 0, stdout: '' });
    hookCli(home, failing(), ...RUN);
    const [name = ''] = sessions();
    writeFileSync(join(home, 'data/hook/sessions', name), '{"session":"s1","guard":{"version":1');
    expect(hookCli(home, failing(), ...RUN)).toMatchObject({ status: 0, stdout: '' });
    expect(report()).toMatchObject([{ calls: 1 }]);
  });

  it('counts every call of parallel hooks', async () => {
    const inputs = Array.from({ length: 12 }, (_, at) =>
      event('PostToolUse', {
        tool_input: { command: `cat ${at}` },
        tool_response: { stdout: `text ${at}`, stderr: '' },
      }),
    );
    const runs = await Promise.all(inputs.map((input) => startHookCli(home, input, ...RUN)));
    expect(runs.map(({ stderr }) => stderr).join('')).toBe('');
    expect(report()).toMatchObject([{ calls: 12 }]);
    expect(sessions().filter((name) => !name.endsWith('.json'))).toEqual([]);
  });

  it('takes over the lock of a hook that was killed', () => {
    hookCli(home, failing(), ...RUN);
    const lock = join(home, 'data/hook/sessions', `${sessions()[0]}.lock`);
    writeFileSync(lock, '1');
    utimesSync(lock, new Date(Date.now() - 60_000), new Date(Date.now() - 60_000));
    expect(hookCli(home, failing(), ...RUN)).toMatchObject({ status: 0, stderr: '' });
    expect(report()).toMatchObject([{ calls: 2 }]);
  });

  it('keeps sessions readable only for their owner, without secrets, and removes old ones', () => {
    const secret = 'ghp_abcdefghijklmnopqrstuvwxyz0123456789';
    hookCli(home, event('PostToolUseFailure', { error: `fatal: bad credentials ${secret}` }, 'old'), ...RUN);
    const file = join(home, 'data/hook/sessions', sessions()[0] ?? '');
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(readFileSync(file, 'utf8')).toContain('bad credentials');
    expect(readFileSync(file, 'utf8')).not.toContain(secret);
    const monthAgo = new Date(Date.now() - 30 * 86_400_000);
    utimesSync(file, monthAgo, monthAgo);
    hookCli(home, failing('new'), ...RUN);
    expect(report()).toMatchObject([{ session: 'new' }]);
  });
});

describe('hook install', { timeout: 60_000 }, () => {
  const settings = (): string => join(home, '.claude/settings.json');
  const backups = (): string[] => readdirSync(join(home, '.claude')).filter((name) => name.includes('backup'));
  const theirs = '{\n    "model": "opus",\n    "hooks": {\n        "PreCompact": []\n    }\n}\n';
  const give = (text: string): void => {
    mkdirSync(join(home, '.claude'));
    writeFileSync(settings(), text);
  };

  it('shows the difference and changes nothing without a terminal and without --yes', () => {
    give(theirs);
    const { status, stderr } = hookCli(home, '', 'install');
    expect(status).toBe(2);
    expect(stderr).toContain('+        "PreToolUse": [');
    expect(stderr).toContain('Add --yes to write it.');
    expect(readFileSync(settings(), 'utf8')).toBe(theirs);
  });

  it('writes the settings in their layout, keeps a backup, and does nothing the second time', () => {
    give(theirs);
    chmodSync(settings(), 0o640);
    expect(hookCli(home, '', 'install', '--yes')).toMatchObject({
      status: 0,
      stdout: expect.stringContaining('mode guide'),
    });
    expect(readFileSync(settings(), 'utf8')).toMatch(/^\{\n {4}"model": "opus",\n {4}"hooks": \{/);
    expect(statSync(settings()).mode & 0o777).toBe(0o640);
    expect(backups().map((name) => readFileSync(join(home, '.claude', name), 'utf8'))).toEqual([theirs]);
    expect(hookCli(home, '', 'install', '--yes').stdout).toContain('installed in');
    expect(backups()).toHaveLength(1);
    expect(hookCli(home, '', 'status').stdout).toContain(`Claude Code: installed in ${settings()}, mode guide`);
  });

  it('writes a command that works', () => {
    hookCli(home, '', 'install', '--yes', '--mode', 'enforce');
    const { hooks } = JSON.parse(readFileSync(settings(), 'utf8')) as {
      hooks: Record<string, [{ hooks: [{ command: string }] }]>;
    };
    expect(Object.keys(hooks)).toEqual(['PreToolUse', 'PostToolUse', 'PostToolUseFailure', 'UserPromptSubmit', 'Stop']);
    const command = hooks['PostToolUseFailure']?.[0].hooks[0].command ?? '';
    expect(command).toMatch(/hook run --agent claude --mode enforce$/);
    const args = command.slice(command.indexOf(' hook ') + 6).split(' ');
    expect(hookCli(home, failing(), ...args)).toEqual({ status: 0, stdout: '', stderr: '' });
  });

  it('uninstalls what it has installed, and writes to the file that a link points to', () => {
    mkdirSync(join(home, '.claude'));
    mkdirSync(join(home, 'dotfiles'));
    writeFileSync(join(home, 'dotfiles/claude.json'), theirs);
    symlinkSync(join(home, 'dotfiles/claude.json'), settings());
    hookCli(home, '', 'install', '--yes');
    hookCli(home, '', 'uninstall', '--yes');
    expect(readFileSync(join(home, 'dotfiles/claude.json'), 'utf8')).toBe(theirs);
    expect(hookCli(home, '', 'uninstall', '--yes').stdout).toContain('has no hook of ours');
  });

  it.each([
    ['not JSON', '{"hooks": // mine\n}'],
    ['hooks of another shape', '{"hooks": {"PreToolUse": "check.sh"}}'],
    ['a list', '[]'],
  ])('refuses settings that are %s, and leaves them alone', (_what, text) => {
    give(text);
    expect(hookCli(home, '', 'install', '--yes')).toMatchObject({
      status: 2,
      stderr: expect.stringContaining('was not changed'),
    });
    expect(readFileSync(settings(), 'utf8')).toBe(text);
  });

  it('knows Codex and Gemini CLI, and refuses other names', () => {
    hookCli(home, '', 'install', '--yes', '--agent', 'codex');
    expect(readFileSync(join(home, '.codex/hooks.json'), 'utf8')).toContain('--agent codex');
    hookCli(home, '', 'install', '--yes', '--agent', 'gemini', '--scope', 'project');
    expect(readFileSync(join(home, '.gemini/settings.json'), 'utf8')).toContain('"timeout": 10000');
    expect(hookCli(home, '', 'install', '--agent', 'clod')).toMatchObject({
      status: 2,
      stderr: expect.stringContaining('clod'),
    });
    expect(hookCli(home, '', 'install', '--mode', 'loud')).toMatchObject({ status: 2 });
    expect(hookCli(home, '', 'instal')).toMatchObject({ status: 2, stderr: expect.stringContaining('install') });
  });
});
