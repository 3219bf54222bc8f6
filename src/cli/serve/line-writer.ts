import { write as writeLater, writeSync } from 'node:fs';

/** Where the lines of a log go. Writing never throws and never waits: a log must not stop what it reports on. */
export interface LineWriter {
  write(line: string): void;
}

/** Lines that wait for a reader. Beyond this, further lines are left out. */
const MOST_WAITING_CHARS = 1024 * 1024;

/**
 * Writes to a file at once, so that the last lines of a process that dies are there. When the disk is full the lines are
 * left out; `say` is told once, and the log has a line about it as soon as it can be written again.
 */
export function writeLines(fd: number, say: (line: string) => void): LineWriter {
  let leftOut = 0;
  return {
    write: (line) => {
      try {
        if (leftOut > 0) writeSync(fd, leftOutLine(leftOut));
        if (leftOut > 0) say(`The log is written again; ${leftOut} lines are missing in it.`);
        leftOut = 0;
        writeSync(fd, line);
      } catch (error) {
        leftOut += 1;
        if (leftOut === 1) say(`The log cannot be written (${messageOf(error)}); its lines are left out until it can.`);
      }
    },
  };
}

/**
 * Writes to a pipe or a terminal in the background. A reader that has stopped reading, or has ended, costs lines and
 * never holds up the process.
 */
export function writeLinesInBackground(fd: number): LineWriter {
  let waiting = '';
  let isWriting = false;
  let leftOut = 0;
  const next = (): void => {
    if (isWriting || waiting === '') return;
    const text = waiting;
    waiting = '';
    isWriting = true;
    writeAll(fd, Buffer.from(text), () => {
      isWriting = false;
      next();
    });
  };
  // What is left when the process ends is written only if nothing waits for the reader.
  process.once('exit', () => {
    if (isWriting || waiting === '') return;
    try {
      writeSync(fd, waiting);
    } catch {
      return;
    }
  });
  return {
    write: (line) => {
      if (waiting.length + line.length > MOST_WAITING_CHARS) {
        leftOut += 1;
        return;
      }
      if (leftOut > 0) waiting += leftOutLine(leftOut);
      leftOut = 0;
      waiting += line;
      next();
    },
  };
}

function writeAll(fd: number, bytes: Buffer, done: () => void): void {
  writeLater(fd, bytes, (error, written) => {
    if (error?.code === 'EAGAIN') {
      setTimeout(() => writeAll(fd, bytes, done), RETRY_MS).unref();
      return;
    }
    if (error !== null || written === bytes.byteLength) done();
    else writeAll(fd, bytes.subarray(written), done);
  });
}
const RETRY_MS = 100;

const leftOutLine = (lines: number): string =>
  `${JSON.stringify({ level: 40, time: Date.now(), lines, msg: 'lines are missing here: the log could not be written' })}\n`;

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
