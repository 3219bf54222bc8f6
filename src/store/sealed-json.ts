import type { Encryption } from '../encryption/encryption.ts';
import { isRecord } from '../protocol/json.ts';

/** The one member of an object that stands for an encrypted value in a JSON column. */
export const SEALED_MEMBER = '$encrypted';

/** @returns the text for a JSON column: the given one, or where encryption is on an object that holds it encrypted */
export function sealJson(json: string, encryption: Encryption, place: string): string {
  if (!encryption.isOn) return json;
  const { mainKey, dataKey, bytes } = encryption.seal(Buffer.from(json), { scope: 'archive', place });
  return JSON.stringify({ [SEALED_MEMBER]: { main_key: mainKey, data_key: base64(dataKey), data: base64(bytes) } });
}

export const isSealedJson = (value: unknown): boolean =>
  isRecord(value) && Object.keys(value).length === 1 && isRecord(value[SEALED_MEMBER]);

/** The value that `sealJson` was given; a value that is not encrypted is returned as it is. */
export function openJson(value: unknown, encryption: Encryption, place: string): unknown {
  if (!isSealedJson(value)) return value;
  const { main_key, data_key, data } = (value as { [SEALED_MEMBER]: Record<'main_key' | 'data_key' | 'data', string> })[
    SEALED_MEMBER
  ];
  const sealed = { mainKey: main_key, dataKey: Buffer.from(data_key, 'base64'), bytes: Buffer.from(data, 'base64') };
  return JSON.parse(Buffer.from(encryption.open(sealed, { place })).toString()) as unknown;
}

const base64 = (bytes: Uint8Array): string => Buffer.from(bytes).toString('base64');
