import { createHttpClient, type HttpClient } from '../../client/http/http-client.ts';
import { SecondwindError } from '../../protocol/errors.ts';
import { type Config, isLoopback, readConfig } from '../config/read-config.ts';
import { ROLES } from '../../api/access.ts';
import { readStackFile } from '../../stack/keeper/stack-file.ts';
import { readTokenFile, tokenFile } from '../serve/token-file.ts';

export interface RemoteFlags {
  url?: string;
  dataDir?: string;
  json?: boolean;
}

/** Connects to the API that the flags, the environment or the data folder name, with its token. */
export async function connectRemote(
  flags: RemoteFlags,
  env: NodeJS.ProcessEnv = process.env,
  headers: () => Record<string, string> = () => ({}),
): Promise<HttpClient> {
  const config = readConfig(env, { dataDir: flags.dataDir });
  const url = flags.url ?? ownUrl(config, env);
  return createHttpClient({ url, token: await tokenFor(url, config), headers });
}

/** The address of the API of this data folder: SECONDWIND_PORT if it is set, otherwise what a running `dev` has stored. */
export function ownUrl(config: Config, env: NodeJS.ProcessEnv): string {
  const stack = readStackFile(config.dataDir);
  if (!env['SECONDWIND_PORT'] && stack?.url !== undefined && stack.state !== 'stopped') return stack.url;
  const host = config.host.includes(':') ? `[${config.host}]` : config.host;
  return `http://${host === '0.0.0.0' ? '127.0.0.1' : host}:${config.port}`;
}

/** The strongest token of the environment, otherwise that of the data folder, which is only sent to this machine. */
async function tokenFor(url: string, { tokens, dataDir }: Config): Promise<string> {
  const named = ROLES.toReversed().flatMap((role) => tokens.filter((grant) => grant.role === role))[0];
  if (named !== undefined) return named.token;
  // An invalid URL is refused by the client, with a message that shows a valid one.
  if (!URL.canParse(url)) return '';
  if (!isThisMachine(url)) {
    throw new SecondwindError(
      'no_token',
      'The token of the data folder is only sent to an API on this machine.',
      'Set SECONDWIND_TOKEN to a token of the API that --url names.',
    );
  }
  const file = tokenFile(dataDir);
  const kept = await readTokenFile(file);
  if (kept !== '') return kept;
  throw new SecondwindError(
    'no_token',
    `There is no token in ${file}.`,
    'Start `secondwind dev`, which creates one, name its folder with --data-dir, or set SECONDWIND_TOKEN.',
  );
}

const isThisMachine = (url: string): boolean => isLoopback(new URL(url).hostname.replaceAll(/^\[|\]$/g, ''));
