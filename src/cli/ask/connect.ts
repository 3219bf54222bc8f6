import { readFile } from 'node:fs/promises';
import { createHttpClient, type HttpClient } from '../../client/http/http-client.ts';
import { SecondwindError } from '../../protocol/errors.ts';
import { type Config, isLoopback, readConfig } from '../config/read-config.ts';
import { ROLES } from '../../api/access.ts';
import { readStackFile } from '../../stack/keeper/stack-file.ts';
import { tokenFile } from '../serve/token-file.ts';

export interface RemoteFlags {
  url?: string;
  dataDir?: string;
  json?: boolean;
}

/** The API that the flags, the environment or the data folder name, with a token for it. */
export async function connectRemote(
  flags: RemoteFlags,
  env: NodeJS.ProcessEnv = process.env,
  headers: () => Record<string, string> = () => ({}),
): Promise<HttpClient> {
  const config = readConfig(env, { dataDir: flags.dataDir });
  const url = flags.url ?? ownUrl(config, env);
  return createHttpClient({ url, token: await tokenFor(url, config), headers });
}

/** Where the API of this data folder listens: a port that is named wins, else what a running `dev` wrote down. */
export function ownUrl(config: Config, env: NodeJS.ProcessEnv): string {
  const stack = readStackFile(config.dataDir);
  if (!env['SECONDWIND_PORT'] && stack?.url !== undefined && stack.state !== 'stopped') return stack.url;
  const host = config.host.includes(':') ? `[${config.host}]` : config.host;
  return `http://${host === '0.0.0.0' ? '127.0.0.1' : host}:${config.port}`;
}

/** The strongest that the environment names, else the data folder's own, which never leaves this machine. */
async function tokenFor(url: string, { tokens, dataDir }: Config): Promise<string> {
  const named = ROLES.toReversed().flatMap((role) => tokens.filter((grant) => grant.role === role))[0];
  if (named !== undefined) return named.token;
  // What is no address at all is refused by the door, which says what one looks like.
  if (!URL.canParse(url)) return '';
  if (!staysHere(url)) {
    throw new SecondwindError(
      'no_token',
      'The token of the data folder is only for this machine.',
      'Set SECONDWIND_TOKEN to a token of the API that --url names.',
    );
  }
  const file = tokenFile(dataDir);
  const kept = (await readFile(file, 'utf8').catch(() => '')).trim();
  if (kept !== '') return kept;
  throw new SecondwindError(
    'no_token',
    `There is no token in ${file}.`,
    'Start `secondwind dev`, which makes one; or name its folder with --data-dir; or set SECONDWIND_TOKEN.',
  );
}

const staysHere = (url: string): boolean => isLoopback(new URL(url).hostname.replaceAll(/^\[|\]$/g, ''));
