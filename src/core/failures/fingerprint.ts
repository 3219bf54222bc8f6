import { canonicalJson, sha256Hex } from '../../protocol/ids.ts';
import type { SignalType } from '../../protocol/schemas/failure-record.ts';
import { cleanName, collapseSpaces } from './clean-text.ts';
import { normaliseMessage } from './normalise-message.ts';
import { salientLine } from './salient-line.ts';

/** Incremented when a change would give the same failure another fingerprint. */
const FINGERPRINT_VERSION = 'fp1';
const HASH_CHARS = 16;
const TOOL_CHARS = 80;
const CODE_CHARS = 60;

export interface FingerprintFields {
  signal_type: SignalType;
  tool_name: string | null;
  error_code?: string | null | undefined;
  /** The query of a retrieval, or the signature of the call in a stall. */
  query?: string | null | undefined;
  /** The chunks that a retrieval returned, in any order. */
  chunk_ids?: readonly string[] | null | undefined;
  /** The full message of the tool, compiler or server. Never text that an agent wrote. */
  message?: string | null | undefined;
}

export const normaliseQuery = (query: string): string => collapseSpaces(query.normalize('NFC').toLowerCase());

const chunkSet = (ids: readonly string[]): string[] => [...new Set(ids)].sort();

/**
 * Computes the fingerprint of a failure: a readable prefix and a hash over every field, so that failures with an equal
 * prefix still differ. It is the same on every machine.
 */
export const fingerprintOf = (fields: FingerprintFields): string => {
  const { signal_type, tool_name, error_code, query, chunk_ids, message } = fields;
  const asked = JSON.stringify([signal_type, tool_name, error_code, query, chunk_ids, message]);
  const known = fingerprints.get(asked);
  if (known !== undefined) return known;
  const fingerprint = computed(fields);
  if (fingerprints.size >= KEPT) fingerprints.clear();
  if (asked.length <= KEPT_CHARS) fingerprints.set(asked, fingerprint);
  return fingerprint;
};

/**
 * A failing call usually fails again in the same way, and normalising the message is slow, so the latest results are
 * cached.
 */
const fingerprints = new Map<string, string>();
const KEPT = 500;
const KEPT_CHARS = 2_000;

const computed = (fields: FingerprintFields): string => {
  const tool = fields.tool_name || null;
  const code = fields.error_code || null;
  const hash = sha256Hex(
    canonicalJson({
      chunk_ids: chunkSet(fields.chunk_ids ?? []),
      error_code: code,
      message: normaliseMessage(salientLine(fields.message ?? '')) || null,
      query: normaliseQuery(fields.query ?? '') || null,
      signal_type: fields.signal_type,
      tool_name: tool,
    }),
  ).slice(0, HASH_CHARS);
  const prefix = [fields.signal_type, cleanName(tool ?? '-', TOOL_CHARS), cleanName(code ?? '-', CODE_CHARS)].join(':');
  return `${FINGERPRINT_VERSION}:${prefix}:${hash}`;
};
