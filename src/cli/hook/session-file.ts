import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createGuardState, type GuardState, readGuardState } from '../../core/guard/guard-state.ts';
import type { HookAgent } from '../../core/hook/agents.ts';
import { sha256Hex } from '../../protocol/ids.ts';
import { isRecord } from '../../protocol/json.ts';
import { withLock } from './lock-file.ts';

/** What is kept of one session of an agent. */
export interface HookSession {
  agent: HookAgent;
  session: string;
  mode: string;
  started_at: string;
  updated_at: string;
  /** How many stretches the user of the agent has been told about. */
  told: number;
  guard: GuardState;
}

/** The state of a guard is bounded. A larger file was not written by the hook and is replaced. */
const SESSION_BYTES = 2 * 1024 * 1024;
const KEPT_SESSIONS = 200;
const KEPT_MS = 14 * 24 * 60 * 60_000;

/** The id of a session comes from outside, so its hash names the file. */
const fileName = (agent: HookAgent, session: string): string => sha256Hex(`${agent}\0${session}`).slice(0, 32);

/** Reads a session, or returns null if the file is missing or is not one. */
export const readSession = (file: string): HookSession | null => {
  try {
    if (statSync(file).size > SESSION_BYTES) return null;
    const value: unknown = JSON.parse(readFileSync(file, 'utf8'));
    if (!isRecord(value) || typeof value['session'] !== 'string') return null;
    const guard = readGuardState(value['guard']);
    return guard === null ? null : ({ ...value, guard } as unknown as HookSession);
  } catch {
    return null;
  }
};

/** All sessions, the latest first. */
export const readSessions = (folder: string): HookSession[] =>
  listFiles(folder)
    .flatMap(({ file }) => readSession(file) ?? [])
    .toSorted((one, other) => other.updated_at.localeCompare(one.updated_at));

const listFiles = (folder: string): { file: string; changed: number }[] => {
  try {
    return readdirSync(folder).flatMap((name) => {
      const file = join(folder, name);
      const changed = statSync(file, { throwIfNoEntry: false })?.mtimeMs;
      return name.endsWith('.json') && changed !== undefined ? [{ file, changed }] : [];
    });
  } catch {
    return [];
  }
};

/** Removes sessions that are two weeks old, and the oldest if there are too many. */
const removeOld = (folder: string, now: number): void => {
  const files = listFiles(folder).toSorted((one, other) => other.changed - one.changed);
  const old = files.filter(({ changed }, at) => at >= KEPT_SESSIONS || now - changed > KEPT_MS);
  for (const { file } of old) rmSync(file, { force: true });
};

/** A reader sees the file before or after the change, and only its owner can read it. */
const replaceFile = (file: string, text: string): void => {
  const temporary = `${file}.${process.pid}.tmp`;
  writeFileSync(temporary, text, { mode: 0o600 });
  renameSync(temporary, file);
};

/**
 * Changes the session under its lock and returns what the change returns. A session that cannot be read starts again.
 *
 * @throws Error if the folder cannot be written or another hook holds the lock.
 */
export const changeSession = <T>(
  folder: string,
  who: { agent: HookAgent; session: string; mode: string },
  now: Date,
  change: (session: HookSession) => { session: HookSession; result: T },
): T => {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const file = join(folder, `${fileName(who.agent, who.session)}.json`);
  return withLock(`${file}.lock`, () => {
    const known = readSession(file);
    const time = now.toISOString();
    const before = known ?? { ...who, started_at: time, updated_at: time, told: 0, guard: createGuardState() };
    const { session, result } = change(before);
    replaceFile(file, JSON.stringify({ ...session, mode: who.mode, updated_at: time }));
    if (known === null) removeOld(folder, now.getTime());
    return result;
  });
};
