import type { Payload, PayloadCodec } from '@temporalio/common';
import type { Encryption, Sealed } from '../encryption/encryption.ts';
import { DamagedError } from '../encryption/errors.ts';
import { PAYLOAD_MARK } from '../protocol/payload-marks.ts';

/** @internal */
export const UNDECODABLE_KEY = '$undecodable';
/** The encoding that Temporal's own examples give to encrypted payloads. */
const ENCRYPTED = 'binary/encrypted';
const KEY_ID = 'encryption-key-id';
const DATA_KEY = 'encryption-data-key';
const PLAIN_JSON = 'json/plain';

const utf8 = (value: string): Uint8Array => Buffer.from(value);
const text = (bytes: Uint8Array | null | undefined): string =>
  bytes ? Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString() : '';
const ENCRYPTED_BYTES = utf8(ENCRYPTED);
const PLAIN_JSON_BYTES = utf8(PLAIN_JSON);
const MARK = utf8('1');

type Context = Parameters<PayloadCodec['encode']>[1];

/**
 * Encrypts payloads on their way to Temporal, with one data key for each workflow. On the way back a payload that cannot be read
 * becomes a value that says so, because the SDK would otherwise fail the workflow task for ever and one bad signal would stop a
 * run. A payload whose main key is missing is different: it is as good as on the day it was written, so decoding throws, the
 * task fails with a message that names the key, and the run waits for a worker that has it.
 */
export function createCodec(encryption: Encryption): PayloadCodec {
  return {
    encode: async (payloads, context) => payloads.map((payload) => encoded(payload, encryption, context)),
    decode: async (payloads, context) => payloads.map((payload) => decoded(payload, encryption, context)),
  };
}

export const isEncrypted = (payload: Payload | null | undefined): boolean => encodingOf(payload) === ENCRYPTED;

/** One has no content, and the other is encrypted already. */
const NEVER_ENCRYPTED = new Set(['binary/null', ENCRYPTED]);

function encoded(payload: Payload, encryption: Encryption, context: Context): Payload {
  const { [PAYLOAD_MARK.readable]: isReadable, ...metadata } = payload.metadata ?? {};
  // Without the mark: Temporal's command line writes a payload as JSON only if it has no metadata but its encoding.
  if (isReadable !== undefined) return { ...payload, metadata };
  if (!encryption.isOn || NEVER_ENCRYPTED.has(encodingOf(payload))) return payload;
  const { mainKey, dataKey, bytes } = encryption.seal(packed(payload), { scope: scopeOf(context) });
  return { metadata: { encoding: ENCRYPTED_BYTES, [KEY_ID]: utf8(mainKey), [DATA_KEY]: dataKey }, data: bytes };
}

function decoded(payload: Payload, encryption: Encryption, context: Context): Payload {
  if (!isEncrypted(payload)) return readable(payload);
  try {
    const inner = readable(unpacked(encryption.open(sealedOf(payload), { scope: scopeOf(context) })));
    return { ...inner, metadata: { ...inner.metadata, [PAYLOAD_MARK.wasEncrypted]: MARK } };
  } catch (error) {
    if (error instanceof DamagedError) return undecodable('encrypted, and changed afterwards');
    throw error;
  }
}

function sealedOf({ metadata, data }: Payload): Sealed {
  const mainKey = text(metadata?.[KEY_ID]);
  const dataKey = metadata?.[DATA_KEY];
  if (mainKey === '' || dataKey === undefined || !data) throw new DamagedError();
  return { mainKey, dataKey, bytes: data };
}

/** A workflow's payloads and those of its activities share a data key; payloads from elsewhere have one of their own. */
const scopeOf = (context: Context): string => (context?.workflowId ? `${context.namespace}/${context.workflowId}` : '');

const LENGTH_BYTES = 4;

/** The length of the metadata, the metadata as JSON with its values in base64, the data. For plain JSON the length is 0. */
function packed({ metadata, data }: Payload): Uint8Array {
  const head = packedMetadata(metadata ?? {});
  const bytes = data ?? new Uint8Array();
  const all = Buffer.allocUnsafe(LENGTH_BYTES + head.length + bytes.length);
  all.writeUInt32BE(head.length);
  all.set(head, LENGTH_BYTES);
  all.set(bytes, LENGTH_BYTES + head.length);
  return all;
}

function packedMetadata(metadata: Record<string, Uint8Array>): Uint8Array {
  const entries = Object.entries(metadata).filter(([name]) => name !== PAYLOAD_MARK.wasEncrypted);
  if (entries.length === 1 && text(metadata['encoding']) === PLAIN_JSON) return new Uint8Array();
  const inBase64 = entries.map(([name, value]) => [name, Buffer.from(value).toString('base64')]);
  return Buffer.from(JSON.stringify(Object.fromEntries(inBase64)));
}

/** Only what was packed gets here: anything else does not decrypt. */
function unpacked(plain: Uint8Array): Payload {
  const bytes = Buffer.from(plain.buffer, plain.byteOffset, plain.byteLength);
  const end = LENGTH_BYTES + bytes.readUInt32BE(0);
  const head = bytes.subarray(LENGTH_BYTES, end);
  const data = bytes.subarray(end);
  if (head.length === 0) return { metadata: { encoding: PLAIN_JSON_BYTES }, data };
  const entries = Object.entries(JSON.parse(head.toString()) as Record<string, string>);
  return { metadata: Object.fromEntries(entries.map(([name, value]) => [name, Buffer.from(value, 'base64')])), data };
}

/** What the default payload converter can read; it knows no protobuf, and throws on what it does not know. */
const READABLE_AS_IT_IS = new Set(['binary/null', 'binary/plain']);

function readable(payload: Payload): Payload {
  const encoding = encodingOf(payload);
  if (READABLE_AS_IT_IS.has(encoding)) return payload;
  if (encoding !== PLAIN_JSON) return undecodable(`encoding ${encoding.slice(0, 40) || 'missing'}`);
  try {
    JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(payload.data ?? new Uint8Array()));
    return payload;
  } catch {
    return undecodable('not JSON');
  }
}

const undecodable = (reason: string): Payload => ({
  metadata: { encoding: PLAIN_JSON_BYTES },
  data: utf8(JSON.stringify({ [UNDECODABLE_KEY]: reason })),
});

const encodingOf = (payload: Payload | null | undefined): string => text(payload?.metadata?.['encoding']);
