/** The result of one check. A `note` does not need to be fixed. */
export interface Finding {
  check: string;
  state: 'ok' | 'note' | 'failed';
  found: string;
  /** What to do about it; null if nothing. */
  next_step: string | null;
  /** True if a configured server does not answer. */
  unreachable?: boolean;
}

export const ok = (check: string, found: string): Finding => ({ check, state: 'ok', found, next_step: null });
export const note = (check: string, found: string, nextStep: string): Finding => ({
  check,
  state: 'note',
  found,
  next_step: nextStep,
});
export const failed = (check: string, found: string, nextStep: string, unreachable = false): Finding => ({
  check,
  state: 'failed',
  found,
  next_step: nextStep,
  ...(unreachable && { unreachable }),
});

/** Makes a finding of an error, whose message and next step it uses. */
export function failedBy(check: string, error: unknown): Finding {
  const { message, nextStep, exitCode } = error as { message?: string; nextStep?: string; exitCode?: number };
  return failed(check, message ?? String(error), nextStep ?? 'Correct what the message names.', exitCode === 3);
}
