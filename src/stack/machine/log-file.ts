import { closeSync, fchmodSync, fstatSync, ftruncateSync, openSync, readFileSync } from 'node:fs';

const MAX_LOG_BYTES = 20 * 1024 * 1024;

/** A log that a child process writes to directly, so that it stays complete if the keeper ends. */
export interface LogFile {
  fd: number;
  /** The last part of what was written since it was opened. */
  recent(): string;
  close(): void;
}

export function openLog(path: string): LogFile {
  const fd = openSync(path, 'a', 0o600);
  // The mode above is only for a new file.
  fchmodSync(fd, 0o600);
  if (fstatSync(fd).size > MAX_LOG_BYTES) ftruncateSync(fd, 0);
  const start = fstatSync(fd).size;
  return {
    fd,
    recent: () => readFileSync(path).subarray(start).toString('utf8').slice(-8_000),
    close: () => closeSync(fd),
  };
}

/** The line of a log that is most useful to a person. */
export function findErrorLine(log: string): string {
  const lines = log
    .split('\n')
    .map((line) => line.trim())
    .filter(Boolean);
  return lines.findLast((line) => /fatal|error|panic|cannot|could not|failed/i.test(line)) ?? lines.at(-1) ?? '';
}
