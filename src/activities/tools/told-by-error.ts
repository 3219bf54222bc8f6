import type { Redact } from '../../core/redaction/redact.ts';
import type { CallFailed } from '../../protocol/tools.ts';
import { wholeText } from '../../protocol/text.ts';
import { cutTo } from './text.ts';

const MOST_MISSED = 20;
const MISSED_CHARS = 200;

type Told = Pick<CallFailed, 'missed' | 'denied' | 'max_bytes'>;

/** What a thrown error says beyond its class, of the right types and capped; asked by its shape, never trusted. */
export function toldByError(error: unknown, redact: Redact): Told {
  if (typeof error !== 'object' || error === null) return {};
  const { missed, denied, max_bytes } = error as Record<string, unknown>;
  const text = (value: unknown): string | undefined =>
    typeof value === 'string' && value !== '' ? cutTo(wholeText(redact(value)), MISSED_CHARS) : undefined;
  const listed = Array.isArray(missed) ? missed.slice(0, MOST_MISSED).flatMap((entry) => text(entry) ?? []) : [];
  const { argument, host } = (typeof denied === 'object' && denied !== null ? denied : {}) as Record<string, unknown>;
  const ruledOut = {
    ...(text(argument) === undefined ? {} : { argument: text(argument) }),
    ...(text(host) === undefined ? {} : { host: text(host) }),
  };
  return {
    ...(listed.length === 0 ? {} : { missed: listed }),
    ...(Object.keys(ruledOut).length === 0 ? {} : { denied: ruledOut }),
    ...(Number.isSafeInteger(max_bytes) && Number(max_bytes) > 0 ? { max_bytes: Number(max_bytes) } : {}),
  };
}

/** All that the work said; the message where it said no more. */
export function wordsOf(error: unknown, message: string): string {
  const said = typeof error === 'object' && error !== null ? (error as Record<string, unknown>)['said'] : undefined;
  return typeof said === 'string' ? said : message;
}

export const exitCodeOf = (error: unknown): number | null => {
  const code =
    typeof error === 'object' && error !== null ? (error as Record<string, unknown>)['exit_code'] : undefined;
  return typeof code === 'number' ? code : null;
};
