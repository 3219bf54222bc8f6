/**
 * What an agent runs around each of its tool calls. It loads neither the command line nor Temporal, because it runs
 * twice per call. It fails open: whatever goes wrong, it prints nothing and exits with 0, and the agent goes on.
 */
import { readFileSync } from 'node:fs';
import { decideAfter, decideBefore } from '../../core/guard/decide.ts';
import { type GuardSettings, type GuardState, noteUserMessage, settingsOf } from '../../core/guard/guard-state.ts';
import { HOOK_AGENTS, type HookAgent } from '../../core/hook/agents.ts';
import { answerHook, tellUser } from '../../core/hook/hook-answer.ts';
import { type HookEvent, readHookEvent } from '../../core/hook/hook-event.ts';
import { isRecord } from '../../protocol/json.ts';
import { checkPolicy } from '../../core/policy/check-policy.ts';
import { mergePolicy } from '../../core/policy/merge-policy.ts';
import type { PolicyPatch } from '../../protocol/schemas/policy.ts';
import { hookFolder, sessionsFolder } from './hook-folder.ts';
import { logLine } from './hook-log.ts';
import { changeSession, type HookSession } from './session-file.ts';

/** A larger input is not read, so that a huge output of a tool cannot hold up the agent. */
const INPUT_BYTES = 32 * 1024 * 1024;

/** If something hangs, the agent does not wait for it. */
const LONGEST_MS = 8000;

type Answer = Record<string, unknown>;

interface Arguments {
  agent: HookAgent;
  mode: string | undefined;
  policy: string | undefined;
  dataDir: string | undefined;
}

const readArguments = (given: readonly string[]): Arguments => {
  const valueOf = (flag: string): string | undefined => {
    const at = given.indexOf(flag);
    return at < 0 ? undefined : given[at + 1];
  };
  return {
    agent: HOOK_AGENTS.find((agent) => agent === valueOf('--agent')) ?? 'claude',
    mode: valueOf('--mode'),
    policy: valueOf('--policy'),
    dataDir: valueOf('--data-dir'),
  };
};

const readSettings = ({ mode, policy }: Arguments): GuardSettings => {
  const file: unknown = policy === undefined ? {} : JSON.parse(readFileSync(policy, 'utf8'));
  const patch = isRecord(file) && mode !== undefined ? { ...file, mode } : file;
  const [problem] = checkPolicy(patch, '$');
  if (problem !== undefined) throw new Error(`invalid policy: ${problem.path}: ${problem.message}`);
  return settingsOf(mergePolicy(patch as PolicyPatch));
};

const readStdin = async (): Promise<string | null> => {
  const parts: Buffer[] = [];
  let bytes = 0;
  for await (const part of process.stdin) {
    bytes += (part as Buffer).length;
    if (bytes > INPUT_BYTES) return null;
    parts.push(part as Buffer);
  }
  return Buffer.concat(parts).toString('utf8');
};

const parseEvent = (agent: HookAgent, text: string): HookEvent | null => {
  try {
    return readHookEvent(agent, JSON.parse(text));
  } catch {
    return null;
  }
};

/** Tells the user of the agent once about each stretch in which the agent was stuck. In `observe` nobody else would. */
const summarize = (session: HookSession): { session: HookSession; answer: Answer | null } => {
  const stuck = session.guard.loops.filter(({ level }) => level === 'stuck');
  const last = stuck.at(-1);
  if (last === undefined || stuck.length <= session.told) return { session, answer: null };
  const where = `calls ${last.start} to ${last.end}`;
  const text = `Secondwind: the agent was stuck (${where}). ${last.signal} \`secondwind hook report\` shows more.`;
  return { session: { ...session, told: stuck.length }, answer: tellUser(text) };
};

const react = (
  session: HookSession,
  event: HookEvent,
  settings: GuardSettings,
): { session: HookSession; result: Answer | null } => {
  const withGuard = (guard: GuardState): HookSession => ({ ...session, guard });
  switch (event.moment) {
    case 'user':
      return { session: withGuard(noteUserMessage(session.guard)), result: null };
    case 'end': {
      const { session: told, answer } = summarize(session);
      return { session: told, result: answer };
    }
    case 'before': {
      const { state, decision } = decideBefore(session.guard, event, settings);
      return { session: withGuard(state), result: answerHook(session.agent, event, decision) };
    }
    case 'after': {
      const { state, decision } = decideAfter(session.guard, event, settings);
      return { session: withGuard(state), result: answerHook(session.agent, event, decision) };
    }
  }
};

/** Reads one event from stdin, and prints the answer in the words of the agent, or nothing. */
export async function runHook(given: readonly string[], now: Date = new Date()): Promise<void> {
  const folder = hookFolder(process.env, readArguments(given).dataDir);
  setTimeout(() => {
    logLine(folder, `gave up after ${LONGEST_MS} ms`);
    process.exit(0);
  }, LONGEST_MS).unref();
  try {
    const asked = readArguments(given);
    const text = await readStdin();
    if (text === null) return logLine(folder, `the input is larger than ${INPUT_BYTES} bytes and was ignored`);
    const event = parseEvent(asked.agent, text);
    if (event === null) return logLine(folder, `the input is not a known event of ${asked.agent} and was ignored`);
    const settings = readSettings(asked);
    const who = { agent: asked.agent, session: event.session, mode: settings.mode };
    const answer = changeSession(sessionsFolder(folder), who, now, (session) => react(session, event, settings));
    if (answer !== null) process.stdout.write(`${JSON.stringify(answer)}\n`);
  } catch (error) {
    logLine(folder, `failed, and the agent goes on: ${error instanceof Error ? error.message : String(error)}`);
  }
}
