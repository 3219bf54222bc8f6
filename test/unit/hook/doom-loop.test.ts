/**
 * An agent that makes the same failing call 40 times and calls the hook as Claude Code documents it: a process before
 * and a process after each call. Needs nothing, but takes a process per event.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { hookCli } from '../../support/hook-process.ts';

const ROUNDS = 40;
let home = '';
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'secondwind-doom-'));
});
afterEach(() => rmSync(home, { recursive: true, force: true }));

interface HookOutput {
  continue?: boolean;
  hookSpecificOutput?: { permissionDecision?: string; additionalContext?: string };
}

/** The loop of an agent: it obeys its hook, and otherwise makes the same call again. */
function liveAgent(mode: string): { calls: number; hints: number } {
  const ask = (event: object): HookOutput => {
    const { status, stdout } = hookCli(home, JSON.stringify(event), 'run', '--agent', 'claude', '--mode', mode);
    expect(status).toBe(0);
    return stdout === '' ? {} : (JSON.parse(stdout) as HookOutput);
  };
  const call = { session_id: 's1', tool_name: 'Bash', tool_input: { command: 'make all' } };
  let hints = 0;
  for (let calls = 1; calls <= ROUNDS; calls += 1) {
    const before = ask({ ...call, hook_event_name: 'PreToolUse' });
    if (before.hookSpecificOutput?.permissionDecision === 'deny') return { calls: calls - 1, hints };
    const error = 'Exit code 2\nmake: *** No rule to make target all.  Stop.';
    const after = ask({ ...call, hook_event_name: 'PostToolUseFailure', error });
    if (after.continue === false) return { calls, hints };
    if (after.hookSpecificOutput?.additionalContext !== undefined) hints += 1;
  }
  return { calls: ROUNDS, hints };
}

const loops = (): unknown[] =>
  (JSON.parse(hookCli(home, '', 'report', '--json').stdout) as { sessions: [{ loops: unknown[] }] }).sessions[0].loops;

const LOOP = { rule: 'same_call_failing', level: 'stuck', tool: 'Bash', start: 1, would_stop_at: 3 };

// Up to 80 processes, one after the other, on a machine that may be busy.
describe('a doom loop of 40 calls', { timeout: 180_000 }, () => {
  it('is stopped in enforce mode', () => {
    expect(liveAgent('enforce').calls).toBe(3);
    expect(loops()).toMatchObject([LOOP]);
  });

  it('runs to 40 in observe mode without a word to the model, with the same report', () => {
    expect(liveAgent('observe')).toEqual({ calls: ROUNDS, hints: 0 });
    expect(loops()).toMatchObject([LOOP]);
  });
});
