import { defined } from '../../protocol/json.ts';
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
  /** True allows every address; a list allows these hosts, as `host` or `host:port`. */
  allowPrivate: boolean | readonly string[];
  constraints: Constraints;
  resolve: Resolve | undefined;
}

/** A checked destination. Requests go only to these addresses. */
export interface Destination {
  url: URL;
  host: string;
  addresses: Address[];
}

/**
 * Resolves the host of a URL and checks that the tool may send requests to it. The request then goes to exactly these addresses,
 * so a host name that resolves differently the next time (DNS rebinding) cannot get around the check. A refusal is thrown as a
 * `ToolError` with the given `certainty`.
 */
export async function resolveDestination(address: string, rules: Rules, certainty: Certainty): Promise<Destination> {
  const refuse = (message: string, code: string, denied?: { host: string }): ToolError =>
    new ToolError(message, { category: 'invalid_input', code, certainty, ...defined({ denied }) });

  const url = URL.canParse(address) ? new URL(address) : null;
  const host = url === null ? null : hostOf(url.href);
  if (url === null || host === null) throw refuse(`${address.slice(0, 200)} is not a valid URL`, 'INVALID_URL');
  if (url.protocol !== 'http:' && url.protocol !== 'https:') {
    throw refuse(`the protocol ${url.protocol} is not supported; use http or https`, 'SCHEME_DENIED');
  }
  const isDenied = (name: string): boolean =>
    (rules.constraints.denied_hosts ?? []).some((denied) => isHost(name, denied));
  if (isDenied(host)) throw refuse(`the host ${host} is denied to this run`, 'DENIED_BY_CONSTRAINT');

  const addresses = await resolveAddresses(host, rules.resolve);
  if (addresses.some((found) => isDenied(found.address))) {
    throw refuse(`the host ${host} is denied to this run`, 'DENIED_BY_CONSTRAINT');
  }
  const allowed = isAllowed(rules.allowPrivate, host, url) || addresses.every((found) => isPublic(found.address));
  if (!allowed)
    throw refuse(
      `${host} is not on the public internet; to allow it, list it in allowPrivate of the tool`,
      'HOST_DENIED',
      { host },
    );
  return { url, host, addresses };
}

async function resolveAddresses(host: string, resolve: Resolve | undefined): Promise<Address[]> {
  const family = isIP(host);
  if (family !== 0) return [{ address: host, family: family === 4 ? 4 : 6 }];
  const found = await (resolve ?? resolveWithDns)(host);
  if (found.length > 0) return found;
  throw Object.assign(new Error(`getaddrinfo ENOTFOUND ${host}`), { code: 'ENOTFOUND' });
}

const resolveWithDns: Resolve = async (host) => {
  const found = await lookup(host, { all: true });
  return found.map(({ address, family }) => ({ address, family: family === 6 ? 6 : 4 }));
};

function isAllowed(allow: boolean | readonly string[], host: string, url: URL): boolean {
  if (typeof allow === 'boolean') return allow;
  const port = url.port || (url.protocol === 'https:' ? '443' : '80');
  return allow.some((entry) => {
    const named = /^(?<name>.+):(?<port>\d{1,5})$/.exec(entry)?.groups;
    // With two or more colons it is an IPv6 address without a port.
    if (named === undefined || (named['name']?.includes(':') && !entry.startsWith('['))) return isHost(host, entry);
    return isHost(host, named['name'] ?? '') && port === named['port'];
  });
}
