import { salientOutput } from '../../core/failures/salient-output.ts';
import type { Redact } from '../../core/redaction/redact.ts';
import { encodedBytes } from '../../core/transcript/shorten-to-bytes.ts';
import { hashOfJson } from '../../protocol/ids.ts';
import type { CallFailed } from '../../protocol/tools.ts';
import { toWellFormed } from '../../protocol/well-formed-text.ts';
import { truncate } from './shorten-text.ts';

const MAX_MISSED = 20;
const MISSED_CHARS = 200;

type ErrorDetails = Pick<CallFailed, 'missed' | 'denied' | 'max_bytes' | 'output' | 'result_hash'>;

/**
 * Reads details from a thrown error, such as missed items and denied arguments. The error can be any value, so each
 * field is checked and capped.
 */
export function readErrorDetails(error: unknown, redact: Redact): ErrorDetails {
  if (typeof error !== 'object' || error === null) return {};
  const { missed, denied, max_bytes, result_hash } = error as Record<string, unknown>;
  const text = (value: unknown): string | undefined =>
    typeof value === 'string' && value !== '' ? truncate(toWellFormed(redact(value)), MISSED_CHARS) : undefined;
  const listed = Array.isArray(missed) ? missed.slice(0, MAX_MISSED).flatMap((entry) => text(entry) ?? []) : [];
  const { argument, host } = (typeof denied === 'object' && denied !== null ? denied : {}) as Record<string, unknown>;
  const ruledOut = {
    ...(text(argument) === undefined ? {} : { argument: text(argument) }),
    ...(text(host) === undefined ? {} : { host: text(host) }),
  };
  return {
    ...(listed.length === 0 ? {} : { missed: listed }),
    ...(Object.keys(ruledOut).length === 0 ? {} : { denied: ruledOut }),
    ...readFailedOutput(error),
    ...(typeof result_hash === 'string' ? { result_hash: truncate(result_hash, 64) } : {}),
    ...(Number.isSafeInteger(max_bytes) && Number(max_bytes) > 0 ? { max_bytes: Number(max_bytes) } : {}),
  };
}

/**
 * The salient part of what a failed call printed. It is exact, as the outputs of successful calls are: people see it
 * redacted, and a model sees it without the values of known secrets.
 */
export function readFailedOutput(error: unknown): Pick<CallFailed, 'output'> {
  const printed =
    typeof error === 'object' && error !== null ? (error as Record<string, unknown>)['output'] : undefined;
  if (typeof printed !== 'string' || printed === '') return {};
  const text = salientOutput({ stdout: printed, stderr: '' });
  return { output: { artifact_id: hashOfJson(text), bytes: encodedBytes(text), text } };
}

/** The full text of a failure: the error's `said` field, or else its message. */
export function fullTextOf(error: unknown, message: string): string {
  const said = typeof error === 'object' && error !== null ? (error as Record<string, unknown>)['said'] : undefined;
  return typeof said === 'string' ? said : message;
}

export const exitCodeOf = (error: unknown): number | null => {
  const code =
    typeof error === 'object' && error !== null ? (error as Record<string, unknown>)['exit_code'] : undefined;
  return typeof code === 'number' ? code : null;
};
