import { createCipheriv, createDecipheriv, createSecretKey, randomBytes, type KeyObject } from 'node:crypto';
import { DamagedError, EncryptionKeyError } from './errors.ts';
import { KEY_BYTES, type MainKey } from './main-key.ts';

/** Encrypted bytes, and what is needed beside a main key to read them. */
export interface Sealed {
  /** The mark of the main key that wrapped the data key. */
  mainKey: string;
  /** The data key, wrapped. */
  dataKey: Uint8Array;
  /** Nonce, ciphertext and tag. */
  bytes: Uint8Array;
}

export interface SealOptions {
  /** All that has the same scope shares a data key, such as everything of one run. */
  scope: string;
  /** Where these bytes belong. They open nowhere else. */
  place?: string;
}

export interface Encryption {
  readonly isOn: boolean;
  /** Of the main keys that this process has; the first one encrypts. */
  readonly keyIds: readonly string[];
  /** @throws TypeError when encryption is off */
  seal(plain: Uint8Array, options: SealOptions): Sealed;
  /**
   * Given a scope, what is sealed next in this scope uses the same data key, so that the processes that work on one run
   * share one.
   *
   * @throws EncryptionKeyError when the main key is not known here
   * @throws DamagedError when the bytes, their data key or their place do not belong together
   */
  open(sealed: Sealed, options?: Partial<SealOptions>): Uint8Array;
}

interface DataKey {
  key: KeyObject;
  wrapped: Uint8Array;
  uses: number;
}

const CIPHER = 'aes-256-gcm';
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
/** Random nonces of 96 bits are safe for 2^32 uses of a key; a scope that lives for months takes a new key long before. */
const MAX_USES = 2 ** 24;
/** So many runs are worked on at once, at most; for one more a data key is unwrapped or made again, which takes 20 µs. */
const CACHED_KEYS = 10_000;

/**
 * Envelope encryption with AES-256-GCM: data is encrypted with a data key, which is wrapped by a main key and travels beside the
 * data. Unwrapped data keys are cached, so an operation costs one pass over the data.
 *
 * @param mainKeys the first one wraps new data keys; all of them unwrap
 * @param encrypts false: nothing new is encrypted, and what was encrypted with these keys can still be read
 */
export function createEncryption(mainKeys: readonly MainKey[], encrypts = true): Encryption {
  const active = encrypts ? mainKeys[0] : undefined;
  const byMark = new Map(mainKeys.map((main) => [main.mark, main]));
  const byScope = createCache<DataKey>();
  const unwrapped = createCache<KeyObject>();

  const freshKey = (main: MainKey, scope: string): DataKey => {
    const secret = randomBytes(KEY_BYTES);
    const dataKey = { key: createSecretKey(secret), wrapped: encrypt(main.key, secret, wrapPlace(main)), uses: 0 };
    byScope.put(scope, dataKey);
    return dataKey;
  };

  const unwrap = ({ mainKey, dataKey }: Sealed): KeyObject => {
    const name = `${mainKey} ${Buffer.from(dataKey).toString('latin1')}`;
    const known = unwrapped.get(name);
    if (known !== undefined) return known;
    const main = byMark.get(mainKey);
    if (main === undefined) throw new EncryptionKeyError(mainKey, mainKeys);
    const key = createSecretKey(decrypt(main.key, dataKey, wrapPlace(main)));
    unwrapped.put(name, key);
    return key;
  };

  return {
    isOn: active !== undefined,
    keyIds: mainKeys.map((main) => main.id),
    seal: (plain, { scope, place = '' }) => {
      if (active === undefined) throw new TypeError('There is no key to encrypt with.');
      const known = byScope.get(scope);
      const dataKey = known === undefined || known.uses >= MAX_USES ? freshKey(active, scope) : known;
      dataKey.uses += 1;
      return { mainKey: active.mark, dataKey: dataKey.wrapped, bytes: encrypt(dataKey.key, plain, place) };
    },
    open: (sealed, { scope, place = '' } = {}) => {
      const key = unwrap(sealed);
      const plain = decrypt(key, sealed.bytes, place);
      if (scope !== undefined && sealed.mainKey === active?.mark && byScope.get(scope) === undefined) {
        byScope.put(scope, { key, wrapped: sealed.dataKey, uses: 0 });
      }
      return plain;
    },
  };
}

/** A wrapped key opens only as a wrapped key of this main key. */
const wrapPlace = (main: MainKey): string => `data key ${main.mark}`;

function encrypt(key: KeyObject, plain: Uint8Array, place: string): Uint8Array {
  const nonce = nextNonce();
  const cipher = createCipheriv(CIPHER, key, nonce);
  if (place !== '') cipher.setAAD(Buffer.from(place));
  const sealed = Buffer.allocUnsafe(NONCE_BYTES + plain.length + TAG_BYTES);
  sealed.set(nonce, 0);
  // In this mode the first call returns as many bytes as it is given, and the last call none.
  sealed.set(cipher.update(plain), NONCE_BYTES);
  cipher.final();
  sealed.set(cipher.getAuthTag(), NONCE_BYTES + plain.length);
  return sealed;
}

/** To ask the system for random bytes costs as much as to encrypt a small payload, so they are asked for many at a time. */
const NONCES_AT_ONCE = 256;
let nonces = Buffer.alloc(0);
function nextNonce(): Uint8Array {
  if (nonces.length === 0) nonces = randomBytes(NONCE_BYTES * NONCES_AT_ONCE);
  const nonce = nonces.subarray(0, NONCE_BYTES);
  nonces = nonces.subarray(NONCE_BYTES);
  return nonce;
}

function decrypt(key: KeyObject, bytes: Uint8Array, place: string): Uint8Array {
  if (bytes.length < NONCE_BYTES + TAG_BYTES) throw new DamagedError();
  try {
    const decipher = createDecipheriv(CIPHER, key, bytes.subarray(0, NONCE_BYTES), { authTagLength: TAG_BYTES });
    if (place !== '') decipher.setAAD(Buffer.from(place));
    decipher.setAuthTag(bytes.subarray(bytes.length - TAG_BYTES));
    const plain = decipher.update(bytes.subarray(NONCE_BYTES, bytes.length - TAG_BYTES));
    decipher.final();
    return plain;
  } catch (error) {
    throw new DamagedError(error);
  }
}

/** Keeps those that were asked for last. */
function createCache<Value>(): { get(name: string): Value | undefined; put(name: string, value: Value): void } {
  const kept = new Map<string, Value>();
  const put = (name: string, value: Value): void => {
    kept.delete(name);
    kept.set(name, value);
    if (kept.size <= CACHED_KEYS) return;
    for (const oldest of kept.keys()) {
      kept.delete(oldest);
      break;
    }
  };
  return {
    get: (name) => {
      const value = kept.get(name);
      if (value !== undefined) put(name, value);
      return value;
    },
    put,
  };
}
