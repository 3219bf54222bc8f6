import type { SupersedeMessage } from '../../protocol/messages.ts';
import { findFailure } from '../failures/failure-memory.ts';
import { supersedeFailure } from '../failures/revise-memory.ts';
import { memoryNow } from './read-failures.ts';
import type { RunState } from './state.ts';

/**
 * Marks a failure as superseded because a person said so: from the next attempt on it leads to no guidance and to no
 * constraints. It becomes active when it occurs again.
 */
export function applySupersede(
  state: RunState,
  { fingerprint }: SupersedeMessage,
): { accepted: boolean; fingerprint: string; reason?: string } {
  if (findFailure(memoryNow(state), fingerprint) === undefined) {
    return { accepted: false, fingerprint, reason: 'this run has no failure with this fingerprint' };
  }
  state.failures = supersedeFailure(state.failures, fingerprint);
  // The failures of a step under way are read when it is settled, so they are marked until then.
  for (const step of state.loop.batch) {
    for (const attempt of step.attempts.slice(step.attempts_read)) {
      if (attempt.record?.fingerprint === fingerprint) attempt.superseded = true;
    }
  }
  return { accepted: true, fingerprint };
}
