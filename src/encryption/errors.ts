import { SecondwindError } from '../protocol/errors.ts';

/** A setting of the encryption that cannot be used. Nothing was started. */
export class BadEncryptionSettingError extends SecondwindError {
  override readonly name = 'BadEncryptionSettingError';
  constructor(message: string, nextStep: string) {
    super('bad_setting', message, nextStep);
  }
}

/** Something was encrypted with a main key that this process does not have. The same data can be read with that key. */
export class EncryptionKeyError extends SecondwindError {
  override readonly name = 'EncryptionKeyError';

  constructor(mark: string, known: readonly { id: string; mark: string }[]) {
    const id = mark.split(':')[0] ?? '';
    const same = known.find((key) => key.id === id);
    const has = known.length === 0 ? 'has no keys' : `has ${known.map((key) => key.id).join(', ')}`;
    const what =
      same === undefined
        ? `The data was encrypted with the key ${id}, and this process ${has}.`
        : `The data was encrypted with another key under the id ${id} (${mark}) than this process has (${same.mark}).`;
    // What a worker throws is shown as its message alone, so the message says what to do.
    const message = `${what} Add the key ${id} to SECONDWIND_ENCRYPTION_KEYS.`;
    super('encryption_key_missing', message, 'Start the process again with that key; nothing is lost meanwhile.');
  }
}

/** Bytes that claim to be encrypted by one of our keys, and were changed or made up. */
export class DamagedError extends SecondwindError {
  override readonly name = 'DamagedError';
  constructor(cause?: unknown) {
    super(
      'encrypted_data_damaged',
      'The data cannot be decrypted: it was changed after it was encrypted.',
      'Restore it from a backup.',
      cause,
    );
  }
}
