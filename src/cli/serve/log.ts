import { mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import type { Logger, LogLevel, LogMetadata } from '@temporalio/common';
import { pino } from 'pino';
import { createRedactor, type Redact, secretsOf } from '../../core/redaction/redact.ts';
import { redactShown } from '../../core/redaction/shown.ts';
import type { Json } from '../../protocol/json.ts';
import { openLog } from '../../stack/machine/log-file.ts';
import { writeLines, writeLinesInBackground } from './line-writer.ts';

export interface CommandLog {
  info(fields: object, message: string): void;
  error(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  /** Adds fields to every further line. The function is called for each line. */
  addFields(fields: () => Record<string, string>): void;
  /** Removes these values too from every further line. */
  hide(secrets: readonly string[]): void;
  /** The same log as a logger of Temporal's SDK. */
  temporal: Logger;
}

/** Creates a log of JSON lines, to a file or to stderr, without secrets. */
export function createLog(to: { file: string } | 'stderr', secrets: readonly string[]): CommandLog {
  let known = [...secretsOf(process.env), ...secrets];
  let redact = createRedactor(known);
  const writer = to === 'stderr' ? writeLinesInBackground(2) : writeLines(logFile(to.file), sayOnStderr);
  let more = (): Record<string, string> => ({});
  const settings = {
    base: null,
    mixin: () => more(),
    hooks: { streamWrite: (line: string) => redactLine(line, redact) },
  };
  const log = pino(settings, writer);
  return {
    info: (fields, message) => log.info(fields, message),
    error: (fields, message) => log.error(fields, message),
    warn: (fields, message) => log.warn(fields, message),
    addFields: (fields) => {
      more = fields;
    },
    hide: (others) => {
      known = [...known, ...others];
      redact = createRedactor(known);
    },
    temporal: temporalLogger(log),
  };
}

/** A line is JSON: ids and names in it stay readable, and a secret is found although JSON has escaped it. */
function redactLine(line: string, redact: Redact): string {
  try {
    return `${JSON.stringify(redactShown(JSON.parse(line) as Json, redact))}\n`;
  } catch {
    return redact(line);
  }
}

function sayOnStderr(line: string): void {
  process.stderr.write(`${line}\n`);
}

function logFile(path: string): number {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  return openLog(path).fd;
}

function temporalLogger(log: pino.Logger): Logger {
  const write = (level: LogLevel, message: string, meta: LogMetadata = {}): void => {
    // BigInt timestamps are not valid JSON, and pino adds its own time.
    const fields = Object.fromEntries(Object.entries(meta).filter(([, value]) => typeof value !== 'bigint'));
    log[PINO_LEVEL[level]](fields, message);
  };
  return {
    log: write,
    trace: (message, meta) => write('TRACE', message, meta),
    debug: (message, meta) => write('DEBUG', message, meta),
    info: (message, meta) => write('INFO', message, meta),
    warn: (message, meta) => write('WARN', message, meta),
    error: (message, meta) => write('ERROR', message, meta),
  };
}

const PINO_LEVEL = { TRACE: 'trace', DEBUG: 'debug', INFO: 'info', WARN: 'warn', ERROR: 'error' } as const;
