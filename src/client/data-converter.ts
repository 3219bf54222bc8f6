import { fileURLToPath } from 'node:url';
import type { DataConverter } from '@temporalio/common';
import type { Encryption } from '../encryption/encryption.ts';
import { encryptionFrom } from '../encryption/settings.ts';
import { createCodec } from './payload-codec.ts';

/** Options of `createDataConverter`. */
export interface DataConverterOptions {
  /** Default: what `SECONDWIND_ENCRYPTION_KEYS` and `SECONDWIND_ENCRYPTION` of this process say. */
  encryption?: Encryption | undefined;
}

/**
 * Creates the data converter that client, worker, API and replay share. It encrypts what is sent to Temporal and changes nothing
 * else: what is decoded is byte for byte what was encoded. Messages and stacks of failures are encrypted like payloads. A received
 * payload that cannot be decoded becomes the value `{ $undecodable: reason }`: the SDK would otherwise fail the workflow task
 * forever, so that one bad signal would stop a run.
 *
 * @throws BadEncryptionSettingError when the environment names keys that cannot be used
 */
export function createDataConverter({
  encryption = encryptionFrom(process.env),
}: DataConverterOptions = {}): DataConverter {
  return { failureConverterPath: FAILURE_CONVERTER_PATH, payloadCodecs: [createCodec(encryption)] };
}

/** JavaScript, because the SDK loads it with `require`, also where the rest of us is TypeScript. */
export const FAILURE_CONVERTER_PATH = fileURLToPath(new URL('../workflows/failure-converter.cjs', import.meta.url));
