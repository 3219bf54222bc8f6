import type { EncryptionSetting } from '../../encryption/settings.ts';

/** Encryption that nobody has decided about is told once; `SECONDWIND_ENCRYPTION=off` is a decision. */
export function warnIfPlain({ state }: EncryptionSetting, log: { warn(fields: object, message: string): void }): void {
  if (state !== 'unset') return;
  log.warn({}, 'Data in Temporal and Postgres is not encrypted: SECONDWIND_ENCRYPTION_KEYS is not set.');
}
