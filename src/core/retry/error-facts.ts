import { isFailureCategory } from '../../protocol/failure-categories.ts';
import type { FailureCategory } from '../../protocol/failure-categories.ts';
import type { Certainty } from '../../protocol/tools.ts';

/**
 * The known facts of a failed attempt, as plain values. Everything is optional, and no value is assumed to be well
 * formed.
 */
export interface ErrorFacts {
  name?: string | undefined;
  message?: string | undefined;
  /**
   * For example ECONNREFUSED, UND_ERR_SOCKET or insufficient_quota. A number from 400 to 599 is read as an HTTP status.
   */
  code?: string | number | undefined;
  http_status?: number | undefined;
  /** The header as received. A date needs the classifier's `now`. */
  retry_after?: string | number | undefined;
  retry_after_ms?: number | undefined;
  exit_code?: number | null | undefined;
  signal?: string | null | undefined;
  stderr?: string | undefined;
  /** True when the runtime ended the attempt at its timeout. */
  timed_out?: boolean | undefined;
  /** `error.type` or `error.code` in a model provider's response. */
  provider_error_type?: string | undefined;
  /** False when no byte of the request was sent, so nothing can have happened. */
  request_sent?: boolean | undefined;
  /** A tool may set the category and the certainty of its failure itself. */
  category?: FailureCategory | undefined;
  certainty?: Certainty | undefined;
}

export type Bag = Record<string, unknown>;
export const isBag = (value: unknown): value is Bag => typeof value === 'object' && value !== null;

const SCANNED_CHARS = 4_000;

const string = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined);
const number = (value: unknown): number | undefined =>
  typeof value === 'number' && Number.isFinite(value) ? value : undefined;
const isCertainty = (value: unknown): value is Certainty =>
  value === 'not_started' || value === 'failed' || value === 'unknown' || value === 'done';

const pick = (value: Bag): ErrorFacts => {
  const { category, certainty } = value;
  return {
    name: string(value.name)?.slice(0, SCANNED_CHARS),
    message: string(value.message)?.slice(0, SCANNED_CHARS),
    code: string(value.code) ?? number(value.code),
    http_status: number(value.http_status),
    retry_after: string(value.retry_after) ?? number(value.retry_after),
    retry_after_ms: number(value.retry_after_ms),
    exit_code: number(value.exit_code),
    signal: string(value.signal),
    // The end of the output usually says why the command failed.
    stderr: string(value.stderr)?.slice(-SCANNED_CHARS),
    timed_out: value.timed_out === true,
    provider_error_type: string(value.provider_error_type),
    request_sent: typeof value.request_sent === 'boolean' ? value.request_sent : undefined,
    category: isFailureCategory(category) ? category : undefined,
    certainty: isCertainty(certainty) ? certainty : undefined,
  };
};

/** Reads facts of the right types and of limited size from any value. Values that do not fit are left out. */
export const readFacts = (value: unknown): ErrorFacts => {
  if (!isBag(value)) return { message: string(value)?.slice(0, SCANNED_CHARS) };
  try {
    return pick(value);
  } catch {
    // A getter that throws must not hide the failure itself.
    return {};
  }
};

/** The HTTP status of the response, if there was one. Some clients keep it in `code`. */
export const statusOf = (facts: ErrorFacts): number | undefined => {
  if (facts.http_status !== undefined) return facts.http_status;
  return typeof facts.code === 'number' && facts.code >= 400 && facts.code <= 599 ? facts.code : undefined;
};
