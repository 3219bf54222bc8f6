import { createHash, timingSafeEqual } from 'node:crypto';
import { Problem } from './problem.ts';

/** The roles of a token, from weakest to strongest. Each may do what the roles before it may. */
export const ROLES = ['viewer', 'reporter', 'operator'] as const;
export type Role = (typeof ROLES)[number];

export const isRole = (text: string): text is Role => (ROLES as readonly string[]).includes(text);
export const mayAct = (has: Role, needs: Role): boolean => ROLES.indexOf(has) >= ROLES.indexOf(needs);

/** A token, its role, and the tenant that it acts for; without one it may name any tenant. */
export interface TokenGrant {
  role: Role;
  token: string;
  tenant?: string;
}

/**
 * The tenant of a request: that of the token, or the one that the request names. Throws a `Problem` if the token acts for
 * another tenant.
 */
export function tenantFor({ tenant: own }: TokenGrant, asked: string | undefined): string | undefined {
  if (own === undefined || asked === undefined || asked === own) return own ?? asked;
  throw new Problem('weaker_role', `The token acts for the tenant ${own}. Leave the tenant out, or use another token.`);
}

export type TokenCheck = (authorization: string | undefined, needs: Role) => TokenGrant;

/** Compares the hashes of all tokens in constant time, so that the time of an answer reveals nothing about a token. */
export function createTokenCheck(grants: readonly TokenGrant[]): TokenCheck {
  const known = grants.map((grant) => ({ grant, hash: hashToken(grant.token) }));
  return (authorization, needs) => {
    const shown = /^Bearer +(?<token>[A-Za-z0-9._~+/-]+=*) *$/i.exec(authorization ?? '')?.groups?.['token'];
    if (shown === undefined) throw noToken('Send the header "Authorization: Bearer <token>".');
    const hash = hashToken(shown);
    let found: TokenGrant | undefined;
    for (const entry of known) if (timingSafeEqual(entry.hash, hash)) found = entry.grant;
    if (found === undefined) throw noToken('This token is unknown.');
    if (mayAct(found.role, needs)) return found;
    throw new Problem(
      'weaker_role',
      `This request needs the role ${needs}, and the token has the role ${found.role}. Use another token.`,
    );
  };
}

const hashToken = (text: string): Buffer => createHash('sha256').update(text).digest();

const noToken = (what: string): Problem =>
  new Problem(
    'no_token',
    `${what} \`secondwind dev\` prints a command with the token and stores it in the file "token" of the data folder.`,
    { headers: { 'www-authenticate': 'Bearer realm="secondwind"' } },
  );

const LOOPBACK = ['localhost', '127.0.0.1', '[::1]'];
const HOST = /^(?<name>\[[0-9a-f:.]+\]|[a-z0-9._-]+)(?::\d{1,5})?$/i;

/**
 * A web page can make a browser call a server on this machine, under its own host name (DNS rebinding) or from its own origin. Such
 * requests are refused before anything else is checked.
 */
export function checkHost(host: string | undefined, allowed: readonly string[]): void {
  const name = hostName(host ?? '');
  if (name !== undefined && isAllowedHost(name, allowed)) return;
  throw new Problem(
    'foreign_host',
    'Call this server as localhost or 127.0.0.1; other names must be listed in SECONDWIND_ALLOWED_HOSTS.',
  );
}

export function checkOrigin(origin: string | undefined, allowed: readonly string[]): void {
  if (origin === undefined) return;
  const match = /^https?:\/\/(?<host>.+)$/i.exec(origin);
  const name = hostName(match?.groups?.['host'] ?? '');
  if (name !== undefined && isAllowedHost(name, allowed)) return;
  throw new Problem(
    'foreign_origin',
    'Call this server from its own pages or without a browser; other hosts must be listed in SECONDWIND_ALLOWED_HOSTS.',
  );
}

const hostName = (host: string): string | undefined => HOST.exec(host)?.groups?.['name']?.toLowerCase();
const isAllowedHost = (name: string, allowed: readonly string[]): boolean =>
  LOOPBACK.includes(name) || allowed.includes(name);

/** How many requests one token may send: a burst, and a rate after that. */
export interface RateLimit {
  burst: number;
  perSecond: number;
}

/** Enough for a dashboard and several programs; it stops a loop that sends requests without end. */
export const DEFAULT_RATE_LIMIT: RateLimit = { burst: 400, perSecond: 200 };

/** One bucket per token, and one for all requests without a valid token, so that guessing tokens slows nobody else down. */
export function createRateLimit({ burst, perSecond }: RateLimit, now: () => number = Date.now) {
  const buckets = new Map<string, { left: number; at: number }>();
  return (holder: string): void => {
    const at = now();
    const bucket = buckets.get(holder) ?? { left: burst, at };
    const left = Math.min(burst, bucket.left + ((at - bucket.at) / 1000) * perSecond);
    buckets.set(holder, { left: left < 1 ? left : left - 1, at });
    if (left >= 1) return;
    const seconds = Math.max(1, Math.ceil((1 - left) / perSecond));
    throw new Problem('too_many', `Wait ${seconds} s. A token may send ${perSecond} requests per second.`, {
      headers: { 'retry-after': String(seconds) },
    });
  };
}
