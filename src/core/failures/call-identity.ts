import { canonicalJson, sha256Hex } from '../../protocol/ids.ts';
import { collapseSpaces } from './clean-text.ts';
import { HEX, ISO_TIME, TIME_OF_DAY, UUID } from './volatile-parts.ts';

/** A call that an agent chose, with the fields that decide whether it repeats another call. */
export interface CallToIdentify {
  tool_name: string;
  args: unknown;
  /** The result of the tool's own `loopKey`, if it has one. It then replaces the arguments. */
  loop_key?: string | null | undefined;
}

const IDENTITY_CHARS = 24;
/** Longer texts are compared unchanged, to limit the work per call. Two long texts are rarely equal by accident. */
const SCANNED_CHARS = 32_000;
const MAX_DEPTH = 64;

/** Names of arguments that differ in every call. */
const NONCE_KEY =
  /^(?:_|cb|nonce|ts|timestamp|rand|random|cache_?buster|(?:request|req|trace|span|correlation|transaction)_?id|idempotency_?key)$/i;
const NONCE_IN_ADDRESS = /([?&;](?:_|cb|nonce|ts|timestamp|rand|random|cache_?buster|request_?id)=)[^&#\s]{1,500}/gi;
/**
 * Milliseconds since 1970 for the years 2017 to 2033. Ten digits (seconds) are not matched, because they could be an
 * order number.
 */
const EPOCH_MS = /(?<!\w)(?:1[5-9]|20)\d{11}(?!\w)/g;
const isEpochMs = (value: number): boolean => Number.isInteger(value) && value >= 1.5e12 && value < 2.1e12;

/**
 * Removes the parts of a text that a caller generates anew for each call. Unlike in error messages, short and long
 * numbers, dates, names and paths stay, because they are part of what is asked for. A hex id is recognized by its
 * letters.
 */
export const stripGeneratedText = (text: string): string =>
  text.length > SCANNED_CHARS
    ? `<long ${sha256Hex(text)}>`
    : text
        .replace(NONCE_IN_ADDRESS, '$1<nonce>')
        .replace(UUID, '<uuid>')
        .replace(ISO_TIME, '<time>')
        .replace(TIME_OF_DAY, '<time>')
        .replace(EPOCH_MS, '<time>')
        .replace(HEX, (hex) => (/[a-f]/i.test(hex) ? '<hex>' : hex));

const stripGeneratedValue = (value: unknown, depth: number): unknown => {
  if (typeof value === 'string') return stripGeneratedText(value);
  if (typeof value === 'number') return isEpochMs(value) ? '<time>' : Number.isFinite(value) ? value : `<${value}>`;
  if (typeof value !== 'object' || value === null) return value;
  if (depth >= MAX_DEPTH) return '<deep>';
  if (Array.isArray(value)) return value.map((item) => stripGeneratedValue(item, depth + 1));
  const stripped: [string, unknown][] = [];
  for (const [key, member] of Object.entries(value)) {
    // `null` and booleans are not nonces, whatever the name of the argument is.
    const isNonce = (typeof member === 'string' || typeof member === 'number') && NONCE_KEY.test(key);
    stripped.push([key, isNonce ? '<nonce>' : stripGeneratedValue(member, depth + 1)]);
  }
  // In order, so that they need not be sorted for the hash. `fromEntries` needs no special case for `__proto__`.
  return Object.fromEntries(stripped.sort(([one], [other]) => (one < other ? -1 : 1)));
};

/**
 * Identifies a call: equal for two calls with the same tool and arguments (RFC 8785), ignoring nonces, times and random
 * ids.
 */
export const callIdentity = ({ tool_name, args, loop_key }: CallToIdentify): string => {
  const asked =
    typeof loop_key === 'string' ? { loop_key, tool_name } : { args: stripGeneratedValue(args, 0), tool_name };
  return sha256Hex(canonicalJson(asked)).slice(0, IDENTITY_CHARS);
};

/** Identifies an agent's message. It is only compared, never shown and never part of a name. */
export const messageIdentity = (text: string): string =>
  sha256Hex(stripGeneratedText(collapseSpaces(text).toLowerCase())).slice(0, IDENTITY_CHARS);
