import type { FailureCategory } from '../protocol/failure-categories.ts';
import type { Certainty } from '../protocol/tools.ts';

/** What a tool may throw to say exactly how it failed; any other error is classified from what it carries. */
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

  constructor(
    message: string,
    options: {
      category: FailureCategory;
      code?: string;
      certainty?: Certainty;
      retryAfterMs?: number;
      /** What a check found missing: the prompt of a retry says so. */
      missed?: readonly string[];
      /** What the tool's own rules refuse for good: the run then refuses it before the call. */
      denied?: { argument?: string; host?: string };
      /** The cap that an answer broke. */
      maxBytes?: number;
      /** All that the work said, for whoever looks for feedback in it; the message is one line of it. */
      said?: string;
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
  }
}
