import { z } from 'zod';

/** There is one exactly when there is more. */
export const nextCursor = z.string().optional();

export const rerunReason = z.enum(['alignment_threshold_not_met', 'drift_threshold_exceeded', 'summary_invalid']);
export const rerunTrigger = z.enum(['alignment', 'drift', 'summary']);
export const finalizeReason = z.enum([
  'thresholds_met',
  'bias_echo',
  'max_reruns_reached',
  'fatigue_threshold_exceeded',
]);

/** Text without control characters: what a name in an address or a filter may be. */
export const plainText = (max: number) =>
  z
    .string()
    .min(1)
    .max(max)
    // oxlint-disable-next-line no-control-regex -- these are what is not allowed
    .regex(/^[^\u0000-\u001f\u007f]*$/);

/** What Temporal's lists can be filtered by: its filters cannot carry a double quote or a backslash. */
export const filterText = (max: number) =>
  z
    .string()
    .min(1)
    .max(max)
    // oxlint-disable-next-line no-control-regex -- these are what is not allowed
    .regex(/^[^\u0000-\u001f\u007f"\\]*$/);

export const cursor = z
  .string()
  .min(1)
  .max(2_000)
  .regex(/^[A-Za-z0-9_-]+$/);
/** From an address, where everything is text. */
export const wholeNumber = (min: number, max: number) =>
  z
    .string()
    .regex(/^[0-9]{1,9}$/)
    .transform(Number)
    .pipe(z.int().min(min).max(max));
export const limit = wholeNumber(1, 200);
