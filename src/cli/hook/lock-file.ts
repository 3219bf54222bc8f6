import { closeSync, openSync, statSync, unlinkSync, writeSync } from 'node:fs';

/** A hook holds the lock for a few milliseconds. One that is older belongs to a process that was killed. */
const STALE_MS = 5000;
const WAIT_MS = 2500;
const POLL_MS = 7;

const sleep = (ms: number): void => void Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);

const hasCode = (error: unknown, code: string): boolean =>
  error instanceof Error && 'code' in error && error.code === code;

const tryToCreate = (file: string): boolean => {
  try {
    const descriptor = openSync(file, 'wx', 0o600);
    writeSync(descriptor, String(process.pid));
    closeSync(descriptor);
    return true;
  } catch (error) {
    if (hasCode(error, 'EEXIST')) return false;
    throw error;
  }
};

const removeIfStale = (file: string): void => {
  const age = Date.now() - (statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? Date.now());
  if (age > STALE_MS) removeFile(file);
};

const removeFile = (file: string): void => {
  try {
    unlinkSync(file);
  } catch (error) {
    if (!hasCode(error, 'ENOENT')) throw error;
  }
};

/**
 * Runs an action while this process holds the lock. An agent that makes several calls at once starts a hook for each of
 * them. The wait is synchronous, because the process has nothing else to do.
 *
 * @throws Error if another process holds the lock for longer than 2.5 s.
 */
export const withLock = <T>(file: string, action: () => T): T => {
  const until = Date.now() + WAIT_MS;
  while (!tryToCreate(file)) {
    if (Date.now() > until) throw new Error('another hook holds the lock of this session');
    removeIfStale(file);
    sleep(POLL_MS);
  }
  try {
    return action();
  } finally {
    removeFile(file);
  }
};
