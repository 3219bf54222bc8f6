import { randomBytes } from 'node:crypto';
import { chmod, mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Grant } from '../../api/access.ts';

export const tokenFile = (dataDir: string): string => join(dataDir, 'token');

export interface OwnGrants {
  grants: Grant[];
  /** The operator's token: what a link or a curl line carries. */
  operatorToken: string;
  /** Where it is kept; null when the environment named it. */
  file: string | null;
}

/** The tokens of the environment, and where it names no operator's one, the one that the data folder keeps. */
export async function ownGrants(tokens: readonly Grant[], dataDir: string): Promise<OwnGrants> {
  const named = tokens.find((grant) => grant.role === 'operator');
  if (named !== undefined) return { grants: [...tokens], operatorToken: named.token, file: null };
  const file = tokenFile(dataDir);
  const token = await keptToken(file);
  return { grants: [...tokens, { role: 'operator', token }], operatorToken: token, file };
}

/** Made once and kept, so that a link from yesterday still works. Readable by its owner only. */
async function keptToken(file: string): Promise<string> {
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
  // A disk that was full when it was written leaves an empty file.
  await writeFile(file, `${fresh}\n`);
  return fresh;
}
