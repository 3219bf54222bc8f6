import type { InspectedLoop } from '../core/inspect/inspected-loop.ts';

/**
 * Thrown by a guarded function in `enforce` mode. `deny` and `ask` before a call mean that the call did not run; `stop`
 * and `ask` after one mean that it ran, and that the agent must not go on. After a person has answered, call
 * `guard.userMessage()` and continue.
 */
export class GuardStopError extends Error {
  override readonly name = 'GuardStopError';
  readonly verdict: 'ask' | 'deny' | 'stop';
  readonly tool: string;
  readonly loop: InspectedLoop | undefined;
  /** The output of the call, if it ran and did not fail. A call that failed is the `cause`. */
  readonly output: unknown;

  constructor(
    text: string,
    about: { verdict: 'ask' | 'deny' | 'stop'; tool: string; loop?: InspectedLoop | undefined; output?: unknown },
    cause?: unknown,
  ) {
    super(text, cause === undefined ? undefined : { cause });
    this.verdict = about.verdict;
    this.tool = about.tool;
    this.loop = about.loop;
    this.output = about.output;
  }
}
