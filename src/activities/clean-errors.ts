import type { Redact } from '../core/redaction/redact.ts';

/** How many nested causes of an error are redacted. */
const MAX_DEPTH = 5;

/**
 * Redacts the messages and stacks of errors that activities throw. Temporal writes them to history without passing them
 * through the payload codec, so they have to be redacted before they leave the activity.
 */
export function withCleanErrors<Activities extends object>(redact: Redact, activities: Activities): Activities {
  const entries = Object.entries(activities).map(([name, activity]) => [name, clean(redact, activity as Activity)]);
  return Object.fromEntries(entries) as Activities;
}

type Activity = (...args: unknown[]) => Promise<unknown>;

const clean =
  (redact: Redact, activity: Activity): Activity =>
  async (...args) => {
    try {
      return await activity(...args);
    } catch (error) {
      cleanError(error, redact, MAX_DEPTH);
      throw error;
    }
  };

function cleanError(error: unknown, redact: Redact, depth: number): void {
  if (!(error instanceof Error) || depth === 0) return;
  error.message = redact(error.message);
  if (error.stack !== undefined) error.stack = redact(error.stack);
  cleanError(error.cause, redact, depth - 1);
}
