import { hashOfJson } from '../../protocol/ids.ts';
import { replaceRequestIds, replaceVolatileParts } from './volatile-parts.ts';

/** `node --test` and TAP write durations without a unit. */
const DURATION_FIELD = /(?<!\w)duration_ms[ :=]{1,3}\d{1,15}(?:\.\d{1,15})?/g;

/**
 * Hashes how a command ended: what was run, its exit code and its output, without what differs from run to run, such as
 * times and ids. The order of lines does not count, because test runners work in parallel.
 */
export function hashResult(
  { argv, stdin }: { argv: readonly string[]; stdin: string | null },
  exitCode: number | null,
  output: string,
): string {
  const lines = output.split('\n').map((line) => {
    const text = line.replaceAll(DURATION_FIELD, 'duration_ms');
    return replaceVolatileParts(replaceRequestIds(text)).trim();
  });
  return hashOfJson({
    argv: [...argv],
    stdin,
    exit_code: exitCode,
    output: [...new Set(lines)].sort(),
  });
}
