import { closeSync, fstatSync, ftruncateSync, openSync, readFileSync } from 'node:fs';

const MAX_LOG_BYTES = 20 * 1024 * 1024;

/** A log that a child writes to directly: it stays whole when the keeper dies, and needs nobody to pump it. */
export interface LogFile {
  fd: number;
  /** What was written since it was opened, the last part of it. */
  recent(): string;
  close(): void;
}

export function openLog(path: string): LogFile {
  const fd = openSync(path, 'a', 0o600);
  if (fstatSync(fd).size > MAX_LOG_BYTES) ftruncateSync(fd, 0);
  const start = fstatSync(fd).size;
  return {
    fd,
    recent: () => readFileSync(path).subarray(start).toString('utf8').slice(-8_000),
    close: () => closeSync(fd),
  };
}

/** The one line of a log that tells a person most. */
export function lastWords(log: string): string {
  const lines = log
    .split('\n')
    .map((line) => line.trim())
    .filter(Boolean);
  return lines.findLast((line) => /fatal|error|panic|cannot|could not|failed/i.test(line)) ?? lines.at(-1) ?? '';
}
