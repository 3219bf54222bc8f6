import { lookup } from 'node:dns/promises';
import { isIP } from 'node:net';
import { hostOf, isHost } from '../hosts.ts';
import { ToolError } from '../tool-error.ts';
import type { Certainty, Constraints } from '../../protocol/tools.ts';
import { isPublic } from './addresses.ts';

export interface Address {
  address: string;
  family: 4 | 6;
}
/** Finds the addresses of a host. */
export type Resolve = (host: string) => Promise<Address[]>;

export interface Rules {
  /** True: any address. A list: these hosts, as `host` or `host:port`. */
  allowPrivate: boolean | readonly string[];
  constraints: Constraints;
  resolve: Resolve | undefined;
}

/** An address that has been looked at: only there a request may go. */
export interface Destination {
  url: URL;
  host: string;
  addresses: Address[];
}

/**
 * Where an address leads, asked once: the request goes to exactly what was looked at here, so that a name which answers
 * differently the next time leads nowhere else. `certainty` is what a refusal at this point means.
 */
export async function destinationOf(address: string, rules: Rules, certainty: Certainty): Promise<Destination> {
  const refuse = (message: string, code: string, denied?: { host: string }): ToolError =>
    new ToolError(message, { category: 'invalid_input', code, certainty, ...(denied === undefined ? {} : { denied }) });

  const url = URL.canParse(address) ? new URL(address) : null;
  const host = url === null ? null : hostOf(url.href);
  if (url === null || host === null) throw refuse(`${address.slice(0, 200)} is no address`, 'INVALID_URL');
  if (url.protocol !== 'http:' && url.protocol !== 'https:') {
    throw refuse(`only http and https are spoken here, not ${url.protocol}`, 'SCHEME_DENIED');
  }
  const ruledOut = (name: string): boolean =>
    (rules.constraints.denied_hosts ?? []).some((denied) => isHost(name, denied));
  if (ruledOut(host)) throw refuse(`the host ${host} is denied to this run`, 'DENIED_BY_CONSTRAINT');

  const addresses = await addressesOf(host, rules.resolve);
  if (addresses.some((found) => ruledOut(found.address))) {
    throw refuse(`the host ${host} is denied to this run`, 'DENIED_BY_CONSTRAINT');
  }
  const allowed = isAllowed(rules.allowPrivate, host, url) || addresses.every((found) => isPublic(found.address));
  if (!allowed) throw refuse(`${host} is not on the public internet; allow it in the tool`, 'HOST_DENIED', { host });
  return { url, host, addresses };
}

async function addressesOf(host: string, resolve: Resolve | undefined): Promise<Address[]> {
  const family = isIP(host);
  if (family !== 0) return [{ address: host, family: family === 4 ? 4 : 6 }];
  const found = await (resolve ?? byDns)(host);
  if (found.length > 0) return found;
  throw Object.assign(new Error(`getaddrinfo ENOTFOUND ${host}`), { code: 'ENOTFOUND' });
}

const byDns: Resolve = async (host) => {
  const found = await lookup(host, { all: true });
  return found.map(({ address, family }) => ({ address, family: family === 6 ? 6 : 4 }));
};

function isAllowed(allow: boolean | readonly string[], host: string, url: URL): boolean {
  if (typeof allow === 'boolean') return allow;
  const port = url.port || (url.protocol === 'https:' ? '443' : '80');
  return allow.some((entry) => {
    const named = /^(?<name>.+):(?<port>\d{1,5})$/.exec(entry)?.groups;
    // Two colons and more are an IPv6 address, not a port.
    if (named === undefined || (named['name']?.includes(':') && !entry.startsWith('['))) return isHost(host, entry);
    return isHost(host, named['name'] ?? '') && port === named['port'];
  });
}
