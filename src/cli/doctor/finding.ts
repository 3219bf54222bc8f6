/** What a check found. `note` is worth knowing and stops nobody. */
export interface Finding {
  check: string;
  state: 'ok' | 'note' | 'failed';
  found: string;
  /** What to do about it; null when nothing is to be done. */
  next_step: string | null;
  /** A server that was named does not answer. */
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

/** Errors of ours say what is wrong and what to do; a check that meets one has its finding. */
export function failedBy(check: string, error: unknown): Finding {
  const { message, nextStep, exitCode } = error as { message?: string; nextStep?: string; exitCode?: number };
  return failed(check, message ?? String(error), nextStep ?? 'Look at the message.', exitCode === 3);
}
