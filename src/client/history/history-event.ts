import type { WorkflowHandle } from '@temporalio/client';
import type { Payload } from '@temporalio/common';
import type { Json } from '../../protocol/json.ts';
import { isoTime } from '../../protocol/time.ts';

/** The SDK's own type of a history event, taken from where it is promised: its protocol package is not ours to import. */
export type HistoryEvent = NonNullable<Awaited<ReturnType<WorkflowHandle['fetchHistory']>>['events']>[number];
export type Attributes<Name extends keyof HistoryEvent> = NonNullable<HistoryEvent[Name]>;
export type HistoryFailure = NonNullable<Attributes<'activityTaskFailedEventAttributes'>['failure']>;

type Payloads = { payloads?: Payload[] | null } | null | undefined;
type Seconds = { seconds?: unknown; nanos?: number | null } | null | undefined;

/**
 * Everything in a history was written by somebody else, perhaps past our doors, so it is asked and never trusted: what
 * cannot be read is `undefined`, and nothing in here throws.
 */
export function jsonOf(payload: Payload | null | undefined): Json | undefined {
  try {
    const encoding = new TextDecoder().decode(payload?.metadata?.['encoding'] ?? new Uint8Array());
    if (encoding === 'binary/null') return null;
    if (encoding !== 'json/plain') return undefined;
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(payload?.data ?? new Uint8Array())) as Json;
  } catch {
    return undefined;
  }
}

export const firstOf = (payloads: Payloads): Json | undefined => jsonOf(payloads?.payloads?.[0]);

export type Fields = { [key: string]: Json };

/** The fields of an object; of anything else none. */
export const fieldsOf = (value: unknown): Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Fields) : {};

export const listOf = (value: unknown): Json[] => (Array.isArray(value) ? (value as Json[]) : []);
export const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');
export const textOrNull = (value: unknown): string | null => (typeof value === 'string' ? value : null);
export const textsOf = (value: unknown): string[] => listOf(value).filter((item) => typeof item === 'string');
export const countOf = (value: unknown): number =>
  typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : 0;

/** Event ids and seconds are 64-bit numbers in an object of the SDK's; as text they are the same in JSON. */
export const numberText = (value: unknown): string => {
  const number = Number(value ?? 0);
  return Number.isSafeInteger(number) && number >= 0 ? String(number) : '0';
};

export function millisecondsOf(time: Seconds): number | null {
  if (time === null || time === undefined) return null;
  const milliseconds = Number(time.seconds ?? 0) * 1000 + Math.floor((time.nanos ?? 0) / 1_000_000);
  return Number.isFinite(milliseconds) ? milliseconds : null;
}

const MAX_TIME_MS = 8.64e15;

export function timeOf(time: Seconds): string | null {
  const milliseconds = millisecondsOf(time);
  return milliseconds === null || Math.abs(milliseconds) > MAX_TIME_MS ? null : isoTime(milliseconds);
}
