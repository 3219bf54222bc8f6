import { randomBytes } from 'node:crypto';
import { chmod, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createSecretFile } from './create-secret-file.ts';
import { createEncryption, type Encryption } from './encryption.ts';
import { BadEncryptionSettingError } from './errors.ts';
import { KEY_BYTES, type MainKey, parseMainKeys } from './main-key.ts';

const SWITCH = 'SECONDWIND_ENCRYPTION';
const KEYS = 'SECONDWIND_ENCRYPTION_KEYS';

/** What the environment says. */
export interface EncryptionSetting {
  /** `unset`: `secondwind dev` encrypts with a key of its own, and everything else does not encrypt. */
  state: 'on' | 'off' | 'unset';
  /** With `off` they still decrypt. */
  keys: MainKey[];
}

/**
 * Reads `SECONDWIND_ENCRYPTION` (`on` or `off`) and `SECONDWIND_ENCRYPTION_KEYS`.
 *
 * @throws BadEncryptionSettingError when a key is malformed, or encryption is on and there is no key
 */
export function readEncryptionSetting(env: NodeJS.ProcessEnv): EncryptionSetting {
  const chosen = env[SWITCH]?.trim().toLowerCase() ?? '';
  if (!['', 'on', 'off'].includes(chosen)) {
    throw new BadEncryptionSettingError(`${SWITCH} is neither on nor off.`, `Set ${SWITCH} to on or off, or unset it.`);
  }
  const keys = parseMainKeys(env[KEYS] ?? '', KEYS);
  if (chosen === 'off') return { state: 'off', keys };
  if (keys.length > 0) return { state: 'on', keys };
  if (chosen === '') return { state: 'unset', keys };
  const nextStep = `Set ${KEYS}, for example to the output of \`echo "main-1:$(openssl rand -base64 32)"\`.`;
  throw new BadEncryptionSettingError(`${SWITCH} is on, and ${KEYS} names no key.`, nextStep);
}

let latest: { marks: string; encryption: Encryption } | undefined;

/** The encryption that the environment asks for. Within a process it is one and the same for the same setting. */
export function encryptionFrom(env: NodeJS.ProcessEnv): Encryption {
  const { state, keys } = readEncryptionSetting(env);
  const marks = [state, ...keys.map((key) => key.mark)].join(' ');
  if (latest?.marks !== marks) latest = { marks, encryption: createEncryption(keys, state === 'on') };
  return latest.encryption;
}

export const encryptionKeyFile = (dataDir: string): string => join(dataDir, 'encryption.key');

/**
 * For a stack of our own: the keys of the environment, and after them the key that the data folder keeps, so that a stack that
 * once ran with one and now runs with the other can read all it has.
 */
export async function encryptionOfDataDir(env: NodeJS.ProcessEnv, dataDir: string): Promise<Encryption> {
  const { state, keys } = readEncryptionSetting(env);
  const file = encryptionKeyFile(dataDir);
  const text = state === 'unset' ? await keptKeys(file) : await readFile(file, 'utf8').catch(() => '');
  const kept = parseMainKeys(text, file).filter(({ id }) => !keys.some((key) => key.id === id));
  if (state !== 'unset' || kept.length > 0) return createEncryption([...keys, ...kept], state !== 'off');
  const nextStep = `Restore the file. Only if nothing in ${dataDir} is needed any more, delete it: a new key is then made.`;
  throw new BadEncryptionSettingError(`The file ${file} has no key.`, nextStep);
}

/** Made once and kept: without it nothing in the data folder can be read. Its text can be used as `SECONDWIND_ENCRYPTION_KEYS`. */
async function keptKeys(file: string): Promise<string> {
  const fresh = `dev:${randomBytes(KEY_BYTES).toString('base64')}`;
  if (await createSecretFile(file, `${fresh}\n`)) return fresh;
  await chmod(file, 0o600);
  return (await readFile(file, 'utf8')).trim();
}
