import type { WorkflowHandle } from '@temporalio/client';
import type { Payload } from '@temporalio/common';
import type { Json } from '../../protocol/json.ts';
import { isoTime } from '../../protocol/time.ts';

/** The SDK's type of a history event, taken from a public function, because its protocol package is not a dependency. */
export type HistoryEvent = NonNullable<Awaited<ReturnType<WorkflowHandle['fetchHistory']>>['events']>[number];
export type Attributes<Name extends keyof HistoryEvent> = NonNullable<HistoryEvent[Name]>;
export type HistoryFailure = NonNullable<Attributes<'activityTaskFailedEventAttributes'>['failure']>;

type Payloads = { payloads?: Payload[] | null } | null | undefined;
type Seconds = { seconds?: unknown; nanos?: number | null } | null | undefined;

/**
 * Decodes a payload. Anyone with access to Temporal may have written it, so it is never trusted: what cannot be decoded is
 * `undefined`, and nothing in this file throws.
 */
export function decodeJson(payload: Payload | null | undefined): Json | undefined {
  try {
    const encoding = new TextDecoder().decode(payload?.metadata?.['encoding'] ?? new Uint8Array());
    if (encoding === 'binary/null') return null;
    if (encoding !== 'json/plain') return undefined;
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(payload?.data ?? new Uint8Array())) as Json;
  } catch {
    return undefined;
  }
}

export const decodeFirst = (payloads: Payloads): Json | undefined => decodeJson(payloads?.payloads?.[0]);

export type Fields = { [key: string]: Json };

/** Returns an object as it is, and an empty object for anything else. */
export const asFields = (value: unknown): Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Fields) : {};

export const asList = (value: unknown): Json[] => (Array.isArray(value) ? (value as Json[]) : []);
export const asText = (value: unknown): string => (typeof value === 'string' ? value : '');
export const textOrNull = (value: unknown): string | null => (typeof value === 'string' ? value : null);
export const asTexts = (value: unknown): string[] => asList(value).filter((item) => typeof item === 'string');
export const asCount = (value: unknown): number =>
  typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : 0;

/** Converts the SDK's 64-bit numbers (event ids, seconds) to text, which JSON can represent. */
export const numberText = (value: unknown): string => {
  const number = Number(value ?? 0);
  return Number.isSafeInteger(number) && number >= 0 ? String(number) : '0';
};

export function toMilliseconds(time: Seconds): number | null {
  if (time === null || time === undefined) return null;
  const milliseconds = Number(time.seconds ?? 0) * 1000 + Math.floor((time.nanos ?? 0) / 1_000_000);
  return Number.isFinite(milliseconds) ? milliseconds : null;
}

const MAX_TIME_MS = 8.64e15;

export function toTime(time: Seconds): string | null {
  const milliseconds = toMilliseconds(time);
  return milliseconds === null || Math.abs(milliseconds) > MAX_TIME_MS ? null : isoTime(milliseconds);
}
