import { z } from 'zod';

/** Present only if there are more items. */
export const nextCursor = z.string().optional();

export const rerunReason = z.enum(['alignment_threshold_not_met', 'drift_threshold_exceeded', 'summary_invalid']);
export const rerunTrigger = z.enum(['alignment', 'drift', 'summary']);
export const finalizeReason = z.enum([
  'thresholds_met',
  'bias_echo',
  'max_reruns_reached',
  'fatigue_threshold_exceeded',
]);

/** Text without control characters, for names in paths and filters. */
export const plainText = (max: number) =>
  z
    .string()
    .min(1)
    .max(max)
    // oxlint-disable-next-line no-control-regex -- these are what is not allowed
    .regex(/^[^\u0000-\u001f\u007f]*$/);

/** Text for Temporal's list filters, which cannot contain a double quote or a backslash. */
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
/** A whole number in a path or query, where every value is text. */
export const wholeNumber = (min: number, max: number) =>
  z
    .string()
    .regex(/^[0-9]{1,9}$/)
    .transform(Number)
    .pipe(z.int().min(min).max(max));
export const limit = wholeNumber(1, 200);
