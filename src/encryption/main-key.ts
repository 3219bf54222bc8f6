import { createHash, createSecretKey, type KeyObject } from 'node:crypto';
import { BadEncryptionSettingError } from './errors.ts';

/** A key of 32 bytes with a name. It wraps data keys and never touches data itself. */
export interface MainKey {
  id: string;
  /**
   * `<id>:<first 8 hex digits of a hash of the key>`. It is written beside whatever was encrypted, so that two different keys
   * under one id are told apart before anything is decrypted.
   */
  mark: string;
  key: KeyObject;
}

export const KEY_BYTES = 32;
const ID = /^[A-Za-z0-9._-]{1,64}$/;
const BASE64 = /^[A-Za-z0-9+/]{43}=$/;
const HOW = 'Write <id>:<32 bytes in base64>, for example with `echo "main-1:$(openssl rand -base64 32)"`.';

/**
 * Reads `<id>:<base64>,<id>:<base64>,…`, the active key first.
 *
 * @throws BadEncryptionSettingError that names the entry by its position and never quotes the key
 */
export function parseMainKeys(text: string, source: string): MainKey[] {
  const entries = text
    .split(',')
    .map((entry) => entry.trim())
    .filter((entry) => entry !== '');
  const keys = entries.map((entry, index) => parseEntry(entry, `entry ${index + 1} of ${source}`));
  for (const [index, { id }] of keys.entries()) {
    if (keys.findIndex((other) => other.id === id) < index) {
      throw new BadEncryptionSettingError(`${source} names the key ${id} twice.`, 'Give each key an id of its own.');
    }
  }
  return keys;
}

function parseEntry(entry: string, place: string): MainKey {
  const colon = entry.indexOf(':');
  if (colon < 0) throw new BadEncryptionSettingError(`There is no colon in ${place}.`, HOW);
  const id = entry.slice(0, colon);
  if (!ID.test(id)) {
    const allowed = 'An id has 1 to 64 letters, digits, dots, dashes and underscores.';
    throw new BadEncryptionSettingError(`The key id in ${place} cannot be used.`, `${allowed} ${HOW}`);
  }
  const secret = entry.slice(colon + 1).trim();
  const bytes = BASE64.test(secret) ? Buffer.from(secret, 'base64') : Buffer.alloc(0);
  if (bytes.length !== KEY_BYTES) {
    throw new BadEncryptionSettingError(`The key ${id} (${place}) is not 32 bytes in base64.`, HOW);
  }
  return mainKey(id, bytes);
}

export function mainKey(id: string, secret: Uint8Array): MainKey {
  const check = createHash('sha256').update('secondwind main key').update(secret).digest('hex').slice(0, 8);
  return { id, mark: `${id}:${check}`, key: createSecretKey(secret) };
}
