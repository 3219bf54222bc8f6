import { appendFileSync, mkdirSync, readFileSync, renameSync, statSync } from 'node:fs';
import { join } from 'node:path';

/** The log is renamed when it is larger, and the one before it is dropped. */
const LOG_BYTES = 256 * 1024;
const LINE_CHARS = 500;

const logFile = (folder: string): string => join(folder, 'hook.log');

/**
 * Writes one line to stderr, which agents show in their debug output, and to the log of the hook, which `hook status`
 * shows. The caller never passes inputs or outputs of tools. A log that cannot be written stops nothing.
 */
export const logLine = (folder: string, text: string): void => {
  const line = text.replaceAll(/\s+/g, ' ').slice(0, LINE_CHARS);
  process.stderr.write(`secondwind hook: ${line}\n`);
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    const file = logFile(folder);
    if ((statSync(file, { throwIfNoEntry: false })?.size ?? 0) > LOG_BYTES) renameSync(file, `${file}.1`);
    appendFileSync(file, `${new Date().toISOString()} ${line}\n`, { mode: 0o600 });
  } catch {
    // stderr has the line already.
  }
};

/** The latest line of the log, or null. */
export const lastLogLine = (folder: string): string | null => {
  try {
    return readFileSync(logFile(folder), 'utf8').trimEnd().split('\n').at(-1) ?? null;
  } catch {
    return null;
  }
};
