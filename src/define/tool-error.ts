import type { FailureCategory } from '../protocol/failure-categories.ts';
import type { Certainty } from '../protocol/tools.ts';

/** What a tool may throw to say exactly how it failed; any other error is classified from what it carries. */
export class ToolError extends Error {
  override readonly name = 'ToolError';
  readonly category: FailureCategory;
  readonly code: string;
  readonly certainty: Certainty | undefined;
  readonly retry_after_ms: number | undefined;

  constructor(
    message: string,
    options: {
      category: FailureCategory;
      code?: string;
      certainty?: Certainty;
      retryAfterMs?: number;
      cause?: unknown;
    },
  ) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.category = options.category;
    this.code = options.code ?? options.category.toUpperCase();
    this.certainty = options.certainty;
    this.retry_after_ms = options.retryAfterMs;
  }
}
