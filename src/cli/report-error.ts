import { joinSentences } from '../protocol/well-formed-text.ts';

/** The exit codes of all commands. */
export const EXIT = { ok: 0, failed: 1, usage: 2, notReachable: 3, guard: 10, budget: 11, person: 12 } as const;

export interface ErrorDescription {
  code: string;
  message: string;
  next_step: string | null;
  exit_code: number;
}

/**
 * Describes an error with a sentence and a next step. Our errors are recognised by their fields and not by class, because importing
 * the classes would load Temporal and Postgres even for a typo in a flag.
 */
export function describeError(error: unknown): ErrorDescription {
  const carried = fieldsOf(error);
  const code = typeof carried.code === 'string' ? carried.code : 'unexpected';
  return {
    code,
    message: error instanceof Error ? error.message : String(error),
    next_step: typeof carried.nextStep === 'string' ? carried.nextStep : null,
    exit_code: exitCodeFor(code, carried.exitCode),
  };
}

function exitCodeFor(code: string, carried: unknown): number {
  if (typeof carried === 'number') return carried;
  if (USAGE.has(code)) return EXIT.usage;
  return code === 'not_reachable' || code === 'STORE_UNREACHABLE' ? EXIT.notReachable : EXIT.failed;
}

/** Error codes that the caller can correct by calling the command differently. */
const USAGE = new Set(['bad_setting', 'bad_usage', 'bad_request', 'bad_cursor']);

const OURS = /^(?:STORE_|[a-z_]+$)/;

/** Prints an error as one sentence and the next step, and returns the exit code. Only unexpected errors are printed with a stack. */
export function reportError(error: unknown, options: { json?: boolean | undefined } = {}): number {
  const told = describeError(error);
  if (options.json) process.stdout.write(`${JSON.stringify({ event: 'failed', ...told })}\n`);
  const foreseen = OURS.test(told.code) && told.code !== 'unexpected';
  const text = joinSentences(told.message, told.next_step);
  process.stderr.write(`${foreseen ? text : stackText(error)}\n`);
  return told.exit_code;
}

const stackText = (error: unknown): string =>
  `Unexpected: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`;

function fieldsOf(error: unknown): { code?: unknown; nextStep?: unknown; exitCode?: unknown } {
  return typeof error === 'object' && error !== null ? error : {};
}
