import { wholeText } from '../protocol/text.ts';

/**
 * Postgres text refuses NUL, and the driver's UTF-8 encoder changes lone surrogates silently. Both are mended here, at
 * the store's edge, so that text from any tool can be kept and reads back exactly as it was written. Raw bytes belong in
 * an artifact.
 */
export const cleanText = (text: string): string =>
  // Nearly every text is clean already.
  UNCLEAN.test(text) ? wholeText(text.replaceAll('\0', '')) : text;

const UNCLEAN = /\0|\p{Surrogate}/u;

/** The same for every text inside a JSON value, keys included. */
const clean = (value: unknown): unknown => {
  if (typeof value === 'string') return cleanText(value);
  if (Array.isArray(value)) return value.map(clean);
  if (value === null || typeof value !== 'object') return value;
  if (value instanceof Date) return value;
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [cleanText(key), clean(member)]));
};

/** jsonb parameters go as text: the driver would turn a JavaScript array into a Postgres array. */
export const jsonParameter = (value: unknown): string => JSON.stringify(clean(value) ?? null);
