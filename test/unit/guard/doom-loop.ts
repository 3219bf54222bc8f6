/** The report about the same failing call 40 times, which every adapter must give. */
import type { GuardReport } from '../../../src/guard.ts';

export const DOOM_CALLS = 40;

export const DOOM_REPORT: GuardReport = {
  calls: DOOM_CALLS,
  loops: [
    {
      rule: 'same_call_failing',
      level: 'stuck',
      tool: 'read_file',
      start: 1,
      end: DOOM_CALLS,
      repeats: DOOM_CALLS,
      would_stop_at: 3,
      signal: 'The same call failed 40 times.',
      progress: 'A success of the call, or a successful change before the next try.',
    },
  ],
  failures: [
    {
      fingerprint: 'fp1:tool_error:read_file:-:2618e242ca6e6a27',
      tool: 'read_file',
      count: DOOM_CALLS,
      certainty: 'failed',
      example: 'a.txt: permission denied',
    },
  ],
};
