import { randomBytes } from 'node:crypto';
import { chmod, mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Grant } from '../../api/access.ts';

export const tokenFile = (dataDir: string): string => join(dataDir, 'token');

export interface OwnGrants {
  grants: Grant[];
  /** The token with the role operator, for the printed link and curl command. */
  operatorToken: string;
  /** The file of the token; null if it comes from the environment. */
  file: string | null;
}

/** The tokens of the environment. If none has the role operator, that of the data folder is added. */
export async function ownGrants(tokens: readonly Grant[], dataDir: string): Promise<OwnGrants> {
  const named = tokens.find((grant) => grant.role === 'operator');
  if (named !== undefined) return { grants: [...tokens], operatorToken: named.token, file: null };
  const file = tokenFile(dataDir);
  const token = await readOrCreateToken(file);
  return { grants: [...tokens, { role: 'operator', token }], operatorToken: token, file };
}

/** Creates the token once and stores it, so that earlier links stay valid. Only the owner can read the file. */
async function readOrCreateToken(file: string): Promise<string> {
  await mkdir(dirname(file), { recursive: true, mode: 0o700 });
  const fresh = randomBytes(24).toString('base64url');
  try {
    await writeFile(file, `${fresh}\n`, { flag: 'wx', mode: 0o600 });
    return fresh;
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error;
  }
  await chmod(file, 0o600);
  const kept = (await readFile(file, 'utf8')).trim();
  if (kept !== '') return kept;
  // The file may be empty because the disk was full when it was written.
  await writeFile(file, `${fresh}\n`);
  return fresh;
}
