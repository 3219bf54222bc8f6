import { joinSentences } from '../protocol/well-formed-text.ts';

/** What a command's end means to whoever called it. */
export const EXIT = { ok: 0, failed: 1, usage: 2, notReachable: 3, guard: 10, budget: 11, person: 12 } as const;

export interface ToldError {
  code: string;
  message: string;
  next_step: string | null;
  exit_code: number;
}

/**
 * Every error of ours has a sentence and a next step. They are told apart by what they carry, not by class: naming their
 * classes here would load Temporal and Postgres for a typo in a flag.
 */
export function toldError(error: unknown): ToldError {
  const carried = carriedBy(error);
  const code = typeof carried.code === 'string' ? carried.code : 'unexpected';
  return {
    code,
    message: error instanceof Error ? error.message : String(error),
    next_step: typeof carried.nextStep === 'string' ? carried.nextStep : null,
    exit_code: exitCodeOf(code, carried.exitCode),
  };
}

function exitCodeOf(code: string, carried: unknown): number {
  if (typeof carried === 'number') return carried;
  if (USAGE.has(code)) return EXIT.usage;
  return code === 'not_reachable' || code === 'STORE_UNREACHABLE' ? EXIT.notReachable : EXIT.failed;
}

/** Whoever called can mend these by calling otherwise. */
const USAGE = new Set(['bad_setting', 'bad_usage', 'bad_request', 'bad_cursor']);

const OURS = /^(?:STORE_|[a-z_]+$)/;

/** One sentence and the next step. Only what nobody foresaw comes with its stack, because then it is ours to mend. */
export function reportError(error: unknown, options: { json?: boolean | undefined } = {}): number {
  const told = toldError(error);
  if (options.json) process.stdout.write(`${JSON.stringify({ event: 'failed', ...told })}\n`);
  const foreseen = OURS.test(told.code) && told.code !== 'unexpected';
  const text = joinSentences(told.message, told.next_step);
  process.stderr.write(`${foreseen ? text : stackOf(error)}\n`);
  return told.exit_code;
}

const stackOf = (error: unknown): string =>
  `Unexpected: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`;

function carriedBy(error: unknown): { code?: unknown; nextStep?: unknown; exitCode?: unknown } {
  return typeof error === 'object' && error !== null ? error : {};
}
