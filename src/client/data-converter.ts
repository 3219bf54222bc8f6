import type { DataConverter, Payload, PayloadCodec } from '@temporalio/common';
import { createRedactor, redactJson, type Redact, secretsOf } from '../core/redaction/redact.ts';
import type { Json } from '../protocol/json.ts';

/** Options of `createDataConverter`. */
export interface DataConverterOptions {
  redact?: Redact;
}

/**
 * Creates the data converter that client, worker, API and replay share. It removes secrets from every payload before it is sent to
 * Temporal. A received payload that cannot be decoded becomes the value `{ $undecodable: reason }`: the SDK would otherwise fail the
 * workflow task forever, so that one bad signal would stop a run.
 */
export function createDataConverter(options: DataConverterOptions = {}): DataConverter {
  const redact = options.redact ?? createRedactor(secretsOf(process.env));
  return { payloadCodecs: [createCodec(redact)] };
}

/** @internal */
export const UNDECODABLE_KEY = '$undecodable';

function createCodec(redact: Redact): PayloadCodec {
  return {
    encode: async (payloads) => payloads.map((payload) => redacted(payload, redact)),
    decode: async (payloads) => payloads.map(readable),
  };
}

/** The encodings, beside JSON, that the default payload converter can read. It throws on any other, such as protobuf. */
const READABLE_AS_IT_IS = new Set(['binary/null', 'binary/plain']);

function redacted(payload: Payload, redact: Redact): Payload {
  if (encodingOf(payload) !== 'json/plain' || !payload.data) return payload;
  const text = new TextDecoder().decode(payload.data);
  // Most payloads have no secret and need no parsing. A payload with escapes is parsed, because an escape can hide a secret.
  if (!text.includes('\\') && redact(text) === text) return payload;
  const value = JSON.parse(text) as Json;
  const clean = redactJson(value, redact);
  return clean === value ? payload : { ...payload, data: new TextEncoder().encode(JSON.stringify(clean)) };
}

function readable(payload: Payload): Payload {
  const encoding = encodingOf(payload);
  if (READABLE_AS_IT_IS.has(encoding)) return payload;
  if (encoding !== 'json/plain') return undecodable(`encoding ${encoding.slice(0, 40) || 'missing'}`);
  try {
    JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(payload.data ?? new Uint8Array()));
    return payload;
  } catch {
    return undecodable('not JSON');
  }
}

const undecodable = (reason: string): Payload => ({
  metadata: { encoding: new TextEncoder().encode('json/plain') },
  data: new TextEncoder().encode(JSON.stringify({ [UNDECODABLE_KEY]: reason })),
});

const encodingOf = (payload: Payload): string =>
  new TextDecoder().decode(payload.metadata?.['encoding'] ?? new Uint8Array());
