import type { FailureCategory } from '../protocol/failure-categories.ts';
import type { Certainty } from '../protocol/tools.ts';

const STATED = Symbol.for('secondwind.stated_certainty');

interface Stated {
  certainty: Certainty;
  /** The tool whose attempt the statement is about; absent if the author of a tool made it. */
  tool?: string;
}

/**
 * Marks an error with what a kind of tool knows about its own attempt. The mark names the tool: thrown on by another tool that
 * called this one on its way, it proves nothing about that other tool's attempt.
 */
export function stateCertainty(error: unknown, certainty: Certainty | undefined, tool: string): unknown {
  if (typeof error !== 'object' || error === null) return error;
  const stated: Stated | undefined = certainty === undefined ? undefined : { certainty, tool };
  return Object.assign(error, { [STATED]: stated });
}

/** Returns what the error states about an attempt of this tool, or undefined if it states nothing about it. */
export function readStatedCertainty(error: unknown, tool: string): Certainty | undefined {
  if (typeof error !== 'object' || error === null) return undefined;
  const stated = (error as { [STATED]?: Stated })[STATED];
  return stated === undefined || (stated.tool !== undefined && stated.tool !== tool) ? undefined : stated.certainty;
}

/**
 * Thrown by a tool to say exactly how it failed. Any other error is classified by its code, its HTTP status and its message.
 *
 * @example
 * ```ts
 * throw new ToolError('the account is locked', { category: 'auth', certainty: 'failed' });
 * ```
 */
export class ToolError extends Error {
  override readonly name = 'ToolError';
  readonly category: FailureCategory;
  readonly code: string;
  readonly certainty: Certainty | undefined;
  readonly retry_after_ms: number | undefined;
  readonly missed: readonly string[] | undefined;
  readonly denied: { argument?: string; host?: string } | undefined;
  readonly max_bytes: number | undefined;
  readonly said: string | undefined;
  readonly output: string | undefined;

  constructor(
    message: string,
    options: {
      category: FailureCategory;
      code?: string;
      /** What is known of the effect. A side effect without it counts as `unknown`. */
      certainty?: Certainty;
      retryAfterMs?: number;
      /** What a check found missing. It becomes part of the retry context. */
      missed?: readonly string[];
      /** An argument or a host that the tool always refuses. The run then refuses it before later calls. */
      denied?: { argument?: string; host?: string };
      /** The size cap that the output exceeded. */
      maxBytes?: number;
      /** The full output of the work, to search for feedback. The message is one line of it. */
      said?: string;
      /** What the failed work printed. The model or planner that chose the call gets its salient part, up to 8 KB. */
      output?: string;
      cause?: unknown;
    },
  ) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.category = options.category;
    this.code = options.code ?? options.category.toUpperCase();
    this.certainty = options.certainty;
    this.retry_after_ms = options.retryAfterMs;
    this.missed = options.missed;
    this.denied = options.denied;
    this.max_bytes = options.maxBytes;
    this.said = options.said;
    this.output = options.output;
    // A symbol that all copies of this package share, and that no other error carries by chance.
    if (options.certainty !== undefined) Object.assign(this, { [STATED]: { certainty: options.certainty } });
  }
}
