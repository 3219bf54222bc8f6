/** What agents tell their hooks, and what they are answered, in the shapes that the agents document. Needs nothing. */
import { describe, expect, it } from 'vitest';
import { answerHook, type HookVerdict } from '../../../src/core/hook/hook-answer.ts';
import { type HookEvent, readHookEvent } from '../../../src/core/hook/hook-event.ts';
import { addHooks, removeHooks } from '../../../src/core/hook/settings-entries.ts';

const common = { session_id: 's', transcript_path: '/t.jsonl', cwd: '/w' };
const bash = { tool_name: 'Bash', tool_input: { command: 'make' } };

describe('events', () => {
  it('reads the events of Claude Code', () => {
    const read = (name: string, more: object) => readHookEvent('claude', { ...common, hook_event_name: name, ...more });
    const about = { session: 's', tool: 'Bash', input: { command: 'make' } };
    expect(read('PreToolUse', bash)).toEqual({ ...about, name: 'PreToolUse', moment: 'before' });
    const stdout = { stdout: 'built', stderr: '', interrupted: false, isImage: false };
    expect(read('PostToolUse', { ...bash, tool_response: stdout })).toMatchObject({ moment: 'after', output: 'built' });
    const error = 'Exit code 2';
    expect(read('PostToolUseFailure', { ...bash, error })).toMatchObject({ moment: 'after', error });
    expect(read('PostToolUseFailure', { ...bash, error, is_interrupt: true })).toMatchObject({ moment: 'user' });
    expect(read('UserPromptSubmit', { prompt: 'go on' })).toMatchObject({ moment: 'user' });
    expect(read('Stop', { stop_hook_active: false })).toMatchObject({ moment: 'end' });
  });

  it('reads the events of Codex and of Gemini CLI', () => {
    const codex = { ...common, ...bash, hook_event_name: 'PostToolUse', tool_response: 'built', turn_id: 't' };
    expect(readHookEvent('codex', codex)).toMatchObject({ moment: 'after', output: 'built' });
    const gemini = { ...common, hook_event_name: 'AfterTool', tool_name: 'run_shell_command', tool_input: {} };
    expect(
      readHookEvent('gemini', { ...gemini, tool_response: { llmContent: 'built', returnDisplay: '…' } }),
    ).toMatchObject({
      moment: 'after',
      output: 'built',
    });
    const error = { message: 'exit code 1' };
    expect(readHookEvent('gemini', { ...gemini, tool_response: { llmContent: '', error } })).toMatchObject({
      error: 'exit code 1',
    });
  });

  it.each([
    [
      'the text of a list of parts',
      [
        { type: 'text', text: 'a' },
        { type: 'text', text: 'b' },
      ],
      'a\nb',
    ],
    ['the content of a file', { type: 'text', file: { filePath: '/a', content: 'x = 1' } }, 'x = 1'],
    ['both outputs of a command', { stdout: 'out', stderr: 'warning' }, 'out\nwarning'],
    ['an empty output of a command', { stdout: '', stderr: '', interrupted: false }, ''],
    ['files without how long the search took', { filenames: ['a'], durationMs: 12 }, { filenames: ['a'] }],
    ['nothing', undefined, ''],
  ])('takes %s as the answer of a tool', (_what, tool_response, output) => {
    const event = { ...common, ...bash, hook_event_name: 'PostToolUse', tool_response };
    expect(readHookEvent('claude', event)).toMatchObject({ output });
  });

  it('keeps the calls of a sub-agent apart', () => {
    const event = { ...common, ...bash, hook_event_name: 'PreToolUse', agent_id: 'a1' };
    expect(readHookEvent('claude', event)).toMatchObject({ session: 's/a1' });
  });

  it.each([
    ['null', null],
    ['a list', []],
    ['no event', { ...common, ...bash }],
    ['an event that is not asked for', { ...common, hook_event_name: 'PreCompact' }],
    ['the name of a method of objects', { ...common, hook_event_name: 'constructor' }],
    ['no session', { ...bash, hook_event_name: 'PreToolUse' }],
    ['no tool', { ...common, hook_event_name: 'PreToolUse' }],
  ])('does not know %s', (_what, value) => {
    expect(readHookEvent('claude', value)).toBeNull();
  });
});

const before = (name: string): HookEvent => ({ session: 's', name, moment: 'before', tool: 'Bash', input: {} });
const after = (name: string): HookEvent => ({
  session: 's',
  name,
  moment: 'after',
  tool: 'Bash',
  input: {},
  output: '',
});
const say = (verdict: HookVerdict['verdict']): HookVerdict => ({ verdict, text: 'why' });

describe('answers', () => {
  it('says nothing if the guard allows a call, so that the agent still asks its user for permission', () => {
    expect(answerHook('claude', before('PreToolUse'), { verdict: 'allow' })).toBeNull();
    expect(answerHook('claude', after('PostToolUse'), { verdict: 'continue' })).toBeNull();
  });

  it('answers Claude Code', () => {
    const specific = (more: object) => ({ hookSpecificOutput: { hookEventName: 'PreToolUse', ...more } });
    const answer = (verdict: HookVerdict['verdict']) => answerHook('claude', before('PreToolUse'), say(verdict));
    // The hint comes with the result.
    expect(answer('guide')).toBeNull();
    expect(answer('ask')).toEqual(specific({ permissionDecision: 'ask', permissionDecisionReason: 'why' }));
    expect(answer('deny')).toEqual(specific({ permissionDecision: 'deny', permissionDecisionReason: 'why' }));
    expect(answerHook('claude', after('PostToolUseFailure'), say('guide'))).toEqual({
      hookSpecificOutput: { hookEventName: 'PostToolUseFailure', additionalContext: 'why' },
    });
    expect(answerHook('claude', after('PostToolUse'), say('stop'))).toEqual({ continue: false, stopReason: 'why' });
  });

  it('answers Codex and Gemini CLI with what they know', () => {
    expect(answerHook('codex', before('PreToolUse'), say('ask'))).toMatchObject({
      hookSpecificOutput: { permissionDecision: 'deny' },
    });
    expect(answerHook('gemini', before('BeforeTool'), say('deny'))).toEqual({ decision: 'deny', reason: 'why' });
    expect(answerHook('gemini', after('AfterTool'), say('guide'))).toMatchObject({
      hookSpecificOutput: { additionalContext: 'why' },
    });
  });
});

describe('settings', () => {
  const command = '/usr/bin/node /x/cli/main.js hook run --agent claude --mode guide';
  const theirs = {
    model: 'opus',
    hooks: {
      PreToolUse: [{ matcher: 'Bash', hooks: [{ type: 'command', command: 'check.sh' }] }],
      SessionStart: [{ hooks: [{ type: 'command', command: 'hello.sh' }] }],
    },
    permissions: { allow: [] },
  };

  it('adds our hook beside those of others, and removes it without a trace', () => {
    const added = addHooks(theirs, 'claude', command);
    expect(added).toMatchObject({
      model: 'opus',
      hooks: {
        PreToolUse: [theirs.hooks.PreToolUse[0], { matcher: '*', hooks: [{ type: 'command', command, timeout: 10 }] }],
        SessionStart: theirs.hooks.SessionStart,
      },
    });
    expect(JSON.stringify(removeHooks(added))).toBe(JSON.stringify(theirs));
    expect(removeHooks(addHooks({}, 'claude', command))).toEqual({});
  });

  it('changes nothing the second time, and replaces the command of another mode in its place', () => {
    const once = addHooks(theirs, 'claude', command);
    expect(JSON.stringify(addHooks(once, 'claude', command))).toBe(JSON.stringify(once));
    const other = command.replace('guide', 'enforce');
    expect(JSON.stringify(addHooks(once, 'claude', other))).toBe(JSON.stringify(once).replaceAll(command, other));
  });

  it('keeps a command of others in a group that ours was moved into', () => {
    const both = {
      matcher: '*',
      hooks: [
        { type: 'command', command },
        { type: 'command', command: 'check.sh' },
      ],
    };
    expect(removeHooks({ hooks: { PreToolUse: [both] } })).toEqual({
      hooks: { PreToolUse: [{ matcher: '*', hooks: [{ type: 'command', command: 'check.sh' }] }] },
    });
  });
});
