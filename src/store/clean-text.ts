import { toWellFormed } from '../protocol/well-formed-text.ts';

/**
 * Removes NUL, which Postgres text refuses, and replaces lone surrogates, which the driver's UTF-8 encoder would change
 * silently. So text from any tool can be stored, and is read back exactly as it was written. Raw bytes belong in an
 * artifact.
 */
export const cleanText = (text: string): string =>
  // Nearly every text is clean already.
  UNCLEAN.test(text) ? toWellFormed(text.replaceAll('\0', '')) : text;

const UNCLEAN = /\0|\p{Surrogate}/u;

/** Cleans every text inside a JSON value, including keys. */
const clean = (value: unknown): unknown => {
  if (typeof value === 'string') return cleanText(value);
  if (Array.isArray(value)) return value.map(clean);
  if (value === null || typeof value !== 'object') return value;
  if (value instanceof Date) return value;
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [cleanText(key), clean(member)]));
};

/** Passes jsonb parameters as text, because the driver would turn a JavaScript array into a Postgres array. */
export const jsonParameter = (value: unknown): string => JSON.stringify(clean(value) ?? null);
