import { AsyncLocalStorage } from 'node:async_hooks';

/** An attempt whose code is under way. What the code starts, such as a timer or a socket, belongs to the attempt too. */
interface Attempt {
  isOver: boolean;
  fail(error: unknown): void;
}

const attempts = new AsyncLocalStorage<Attempt>();

/**
 * Runs code of a user, and also fails with an error that the code loses: a promise that nobody awaits, or an exception in
 * a callback. Without `handleStrayErrors` such an error ends the process, as it does in Node.
 */
export function catchStrayErrors<T>(run: () => Promise<T> | T): Promise<T> {
  return new Promise<T>((resolve, reject) => {
    const attempt: Attempt = { isOver: false, fail: reject };
    void attempts.run(attempt, async () => {
      try {
        resolve(await run());
      } catch (error) {
        reject(error);
      } finally {
        attempt.isOver = true;
      }
    });
  });
}

export interface StrayErrorLog {
  error(message: string, fields: Record<string, unknown>): void;
}

/** What happens to an error that belongs to no attempt. */
export type OtherErrors = 'log' | 'end_process';

/**
 * Keeps the process alive when an error is lost, and fails the attempt that it belongs to. An error that belongs to no
 * attempt, or to one that is over, is logged: the process goes on, because everything that a run needs is in Temporal,
 * and other runs must not suffer. In a program of the user, `end_process` leaves errors of the program itself to Node.
 * Returns a function that restores Node's own behaviour.
 */
export function handleStrayErrors(log: StrayErrorLog, others: OtherErrors = 'log'): () => void {
  const take = (event: string, error: unknown): void => {
    const attempt = attempts.getStore();
    if (attempt !== undefined && !attempt.isOver) {
      attempt.fail(error);
      return;
    }
    // Node ends the process with the error and its stack when a handler throws.
    if (attempt === undefined && others === 'end_process') throw error;
    const found = attempt === undefined ? 'no attempt' : 'an attempt that is over';
    const told = error instanceof Error ? (error.stack ?? error.message) : String(error);
    try {
      log.error(event, { belongs_to: found, error: told });
    } catch {
      // A log that cannot be written must not end the process either.
    }
  };
  const onRejection = (error: unknown): void => take('stray_rejection', error);
  const onException = (error: unknown): void => take('stray_exception', error);
  process.on('unhandledRejection', onRejection);
  process.on('uncaughtException', onException);
  return () => {
    process.off('unhandledRejection', onRejection);
    process.off('uncaughtException', onException);
  };
}
