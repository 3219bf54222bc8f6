import type { CommandExtras, CommandOptions } from './definition.ts';

/** Harmless, and most programs need them. Everything else of the worker's environment may hold a secret. */
const ALWAYS_ALLOWED = ['PATH', 'HOME', 'LANG', 'TZ', 'TMPDIR'];

/** What a command gets to see: the names that are allowed, what the tool sets, and what this attempt is about. */
export function environmentOf<Input>(
  asked: CommandOptions<Input, unknown>['env'],
  input: Input,
  extras: CommandExtras,
): Record<string, string> {
  const allowed = [...ALWAYS_ALLOWED, ...(asked?.allow ?? [])].flatMap((name): [string, string][] => {
    const value = process.env[name];
    return value === undefined ? [] : [[name, value]];
  });
  return {
    ...Object.fromEntries(allowed),
    ...(typeof asked?.set === 'function' ? asked.set(input) : asked?.set),
    SECONDWIND_ATTEMPT: String(extras.attempt),
    SECONDWIND_IDEMPOTENCY_KEY: extras.idempotencyKey,
    SECONDWIND_REPORT_DIR: extras.reportDir,
    SECONDWIND_GUIDANCE_FILE: extras.guidanceFile,
    ...(extras.promptFile === '' ? {} : { SECONDWIND_PROMPT_FILE: extras.promptFile }),
  };
}
