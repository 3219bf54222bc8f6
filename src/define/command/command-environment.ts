import type { CommandExtras, CommandOptions } from './definition.ts';

/** Most programs need these. Any other variable of the worker may hold a secret. */
const ALWAYS_ALLOWED = ['PATH', 'HOME', 'LANG', 'TZ', 'TMPDIR'];

/** The environment of a command: the allowed variables, those that the tool sets, and those of the attempt. */
export function buildEnvironment<Input>(
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
    SECONDWIND_FENCE: String(extras.fence),
    SECONDWIND_REPORT_DIR: extras.reportDir,
    SECONDWIND_GUIDANCE_FILE: extras.guidanceFile,
    ...(extras.promptFile === '' ? {} : { SECONDWIND_PROMPT_FILE: extras.promptFile }),
  };
}
