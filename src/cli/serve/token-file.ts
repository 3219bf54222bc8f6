import { randomBytes } from 'node:crypto';
import { chmod, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { TokenGrant } from '../../api/access.ts';
import { createSecretFile } from '../../encryption/create-secret-file.ts';
import { writeWholeFile } from '../../stack/machine/write-whole-file.ts';
import { ConfigError } from '../config/config-error.ts';
import { isToken } from '../config/read-tokens.ts';

export const tokenFile = (dataDir: string): string => join(dataDir, 'token');

export interface OwnGrants {
  grants: TokenGrant[];
  /** The token with the role operator, for the printed link and curl command. */
  operatorToken: string;
  /** The file of the token; null if it comes from the environment. */
  file: string | null;
}

/** The tokens of the environment. If none has the role operator, that of the data folder is added. */
export async function ownGrants(tokens: readonly TokenGrant[], dataDir: string): Promise<OwnGrants> {
  const named = tokens.find((grant) => grant.role === 'operator');
  if (named !== undefined) return { grants: [...tokens], operatorToken: named.token, file: null };
  const file = tokenFile(dataDir);
  const token = await readOrCreateToken(file);
  return { grants: [...tokens, { role: 'operator', token }], operatorToken: token, file };
}

/**
 * Reads the token of a data folder; an empty text when there is none.
 * @throws ConfigError when something else is there.
 */
export async function readTokenFile(file: string): Promise<string> {
  let token: string;
  try {
    token = (await readFile(file, 'utf8')).trim();
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined;
    if (code === 'ENOENT' || code === 'ENOTDIR') return '';
    const why = code === 'EISDIR' ? 'it is a folder' : String(code ?? error);
    throw new ConfigError(`The token in ${file} cannot be read (${why}).`, `Remove it. ${NEW_TOKEN}`);
  }
  if (token === '' || isToken(token)) return token;
  throw new ConfigError(
    `The file ${file} does not contain a token that a header can carry.`,
    `Remove it. ${NEW_TOKEN}`,
  );
}
const NEW_TOKEN = '`secondwind dev` makes a new one; or set SECONDWIND_TOKEN.';

/** Creates the token once and stores it, so that earlier links stay valid. Only the owner can read the file. */
async function readOrCreateToken(file: string): Promise<string> {
  const fresh = randomBytes(24).toString('base64url');
  if (await createSecretFile(file, `${fresh}\n`)) return fresh;
  const kept = await readTokenFile(file);
  await chmod(file, 0o600);
  if (kept !== '') return kept;
  // An earlier version left the file empty if the disk was full when it was written.
  await writeWholeFile(file, `${fresh}\n`);
  return fresh;
}
