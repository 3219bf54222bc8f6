import { resolve } from 'node:path';
import { defaultDataDir } from '../../stack/machine/default-data-dir.ts';
import { ConfigError } from './config-error.ts';
import type { TokenGrant } from '../../api/access.ts';
import { readTokens } from './read-tokens.ts';
import { suggestName } from '../../define/zod-problems.ts';
import { type EncryptionSetting, readEncryptionSetting } from '../../encryption/settings.ts';
import { cacheDir } from '../../stack/machine/cache-dir.ts';

export { ConfigError } from './config-error.ts';

const PREFIX = 'SECONDWIND_';

/** Every environment variable of Secondwind. Any other with our prefix is refused, because it is probably a typo. */
const KNOWN = [
  'SECONDWIND_PORT',
  'SECONDWIND_HOST',
  'SECONDWIND_ALLOWED_HOSTS',
  'SECONDWIND_DATA_DIR',
  'SECONDWIND_CACHE_DIR',
  'SECONDWIND_TOKEN',
  'SECONDWIND_TOKENS',
  'SECONDWIND_RATE_LIMIT',
  'SECONDWIND_REVIEWER',
  'SECONDWIND_POLICY',
  'SECONDWIND_PUBLIC_URL',
  'SECONDWIND_WEBHOOK_SECRET',
  'SECONDWIND_WEBHOOK_ALLOW_PRIVATE',
  'SECONDWIND_TRACE_CONTENT',
  'SECONDWIND_ENCRYPTION',
  'SECONDWIND_ENCRYPTION_KEYS',
  'SECONDWIND_CODEC_ORIGINS',
  'SECONDWIND_STREAMING',
] as const;

export const DEFAULT_PORT = 4680;
/** Enough for a dashboard and several programs; it stops a loop that sends requests without end. */
const DEFAULT_RATE_LIMIT = 200;
const LOOPBACK_HOSTS = ['127.0.0.1', '::1', 'localhost'];

export interface Config {
  /** The port of the API; 0 for any free port. */
  port: number;
  host: string;
  /** Host names that requests may use, in addition to the loopback names. */
  allowedHosts: string[];
  dataDir: string;
  cacheDir: string;
  /** The tokens of the environment. If there are none, one is created and stored in the data folder. */
  tokens: TokenGrant[];
  /** The number of requests per second for each token. */
  rateLimit: number;
  /** A file whose default export reviews passes that are reported without a review. */
  reviewer: string | undefined;
  /** A JSON file with the policy for passes that run elsewhere. */
  policyFile: string | undefined;
  /** What protects data in Temporal and in the store. */
  encryption: EncryptionSetting;
  /** Pages of Temporal's UI that may ask for `/codec`, as `https://host:port`. */
  codecOrigins: string[];
  /** Whether people see the answers of models while they arrive. */
  streaming: boolean;
  databaseUrl: string | undefined;
  temporalAddress: string | undefined;
  namespace: string;
}

/** Options of the command line, which override the environment. */
export interface ConfigFlags {
  port?: string | undefined;
  host?: string | undefined;
  dataDir?: string | undefined;
}

export function readConfig(env: NodeJS.ProcessEnv, flags: ConfigFlags = {}): Config {
  refuseTypos(env);
  const set = (name: string): string | undefined => env[name]?.trim() || undefined;
  const port = flags.port ?? set('SECONDWIND_PORT');
  return {
    port: port === undefined ? DEFAULT_PORT : readPort(port),
    host: flags.host ?? set('SECONDWIND_HOST') ?? '127.0.0.1',
    allowedHosts: listOf(set('SECONDWIND_ALLOWED_HOSTS')),
    dataDir: resolve(flags.dataDir ?? set('SECONDWIND_DATA_DIR') ?? defaultDataDir(env)),
    cacheDir: cacheDir(env),
    tokens: readTokens(set('SECONDWIND_TOKEN'), set('SECONDWIND_TOKENS')),
    rateLimit: readRateLimit(set('SECONDWIND_RATE_LIMIT')),
    reviewer: set('SECONDWIND_REVIEWER'),
    policyFile: set('SECONDWIND_POLICY'),
    encryption: readEncryptionSetting(env),
    codecOrigins: listOf(set('SECONDWIND_CODEC_ORIGINS')).map(readOrigin),
    streaming: readStreaming(set('SECONDWIND_STREAMING')),
    databaseUrl: set('DATABASE_URL'),
    temporalAddress: set('TEMPORAL_ADDRESS'),
    namespace: set('TEMPORAL_NAMESPACE') ?? 'default',
  };
}

const listOf = (text: string | undefined): string[] =>
  (text ?? '')
    .split(',')
    .map((name) => name.trim().toLowerCase())
    .filter((name) => name !== '');

function readOrigin(text: string): string {
  if (URL.canParse(text) && new URL(text).origin === text) return text;
  throw new ConfigError(
    `SECONDWIND_CODEC_ORIGINS has ${text}, which is not the origin of a page.`,
    'Write scheme, host and port without a path, such as https://temporal.example.com or http://localhost:8233.',
  );
}

export const isLoopback = (host: string): boolean => LOOPBACK_HOSTS.includes(host);

/** Describes the settings for a log, without secrets. */
export function describeConfig(config: Config): Record<string, string | number | string[]> {
  return {
    port: config.port,
    host: config.host,
    allowed_hosts: config.allowedHosts,
    data_dir: config.dataDir,
    cache_dir: config.cacheDir,
    tokens: config.tokens.map((grant) => `${grant.role}: set`),
    rate_limit: config.rateLimit,
    reviewer: config.reviewer ?? 'none',
    policy: config.policyFile ?? 'default',
    encryption: [config.encryption.state, ...config.encryption.keys.map(({ id }) => id)].join(' '),
    codec_origins: config.codecOrigins,
    streaming: config.streaming ? 'on' : 'off',
    database: config.databaseUrl === undefined ? 'embedded' : withoutPassword(config.databaseUrl),
    temporal: config.temporalAddress ?? 'embedded',
    namespace: config.namespace,
  };
}

function refuseTypos(env: NodeJS.ProcessEnv): void {
  for (const name of Object.keys(env)) {
    if (!name.startsWith(PREFIX) || (KNOWN as readonly string[]).includes(name)) continue;
    throw new ConfigError(
      `There is no setting ${name}${nearest(name) || '.'}`,
      `Correct its name or unset it. The settings are ${KNOWN.join(', ')}.`,
    );
  }
}

/** Names are compared without their common prefix, which would make all of them look similar. */
const nearest = (name: string): string =>
  suggestName(
    name.slice(PREFIX.length),
    KNOWN.map((known) => known.slice(PREFIX.length)),
  ).replace('mean ', `mean ${PREFIX}`);

function readPort(text: string): number {
  const port = Number(text);
  if (/^\d{1,5}$/.test(text.trim()) && port <= 65_535) return port;
  throw new ConfigError(`The port ${text} is not a number from 0 to 65535.`, 'Correct --port or SECONDWIND_PORT.');
}

function readRateLimit(text: string | undefined): number {
  if (text === undefined) return DEFAULT_RATE_LIMIT;
  if (/^[1-9]\d{0,6}$/.test(text)) return Number(text);
  throw new ConfigError(
    `The rate limit ${text} is not a whole number from 1 to 9999999.`,
    'Correct SECONDWIND_RATE_LIMIT. It is the number of requests per second for each token.',
  );
}

function readStreaming(text: string | undefined): boolean {
  if (text === undefined || text === 'on') return true;
  if (text === 'off') return false;
  throw new ConfigError(`SECONDWIND_STREAMING is ${text}.`, 'Set it to on or to off. The default is on.');
}

function withoutPassword(databaseUrl: string): string {
  if (!URL.canParse(databaseUrl)) return 'not an address';
  const { host, pathname } = new URL(databaseUrl);
  return `${host}${pathname}`;
}
