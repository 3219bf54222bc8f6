import type { DataConverter, Payload, PayloadCodec } from '@temporalio/common';
import { createRedactor, redactJson, type Redact, secretsOf } from '../core/redaction/redact.ts';
import type { Json } from '../protocol/json.ts';

export interface DataConverterOptions {
  redact?: Redact;
}

/**
 * The one data converter of client, worker, API and replay. On its way to Temporal every payload passes the redaction
 * choke point; on its way back a payload that nobody can read becomes a value that says so, because the SDK would
 * otherwise fail the workflow task for ever and one bad signal would stop a run.
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

/** What the default payload converter can read; it knows no protobuf, and throws on what it does not know. */
const READABLE_AS_IT_IS = new Set(['binary/null', 'binary/plain']);

function redacted(payload: Payload, redact: Redact): Payload {
  if (encodingOf(payload) !== 'json/plain' || !payload.data) return payload;
  const text = new TextDecoder().decode(payload.data);
  // Most payloads hold no secret and need not be taken apart; an escape could hide one, as \n in a key or \" in JSON.
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
