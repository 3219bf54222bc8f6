import { lookup, type LookupAddress } from 'node:dns';
import { BlockList, isIP, type LookupFunction } from 'node:net';

/**
 * Addresses of this machine, of private networks, and reserved ones. `BlockList` also matches IPv4 addresses that are
 * mapped to IPv6.
 */
const NOT_PUBLIC: [string, number, 'ipv4' | 'ipv6'][] = [
  ['0.0.0.0', 8, 'ipv4'],
  ['10.0.0.0', 8, 'ipv4'],
  ['100.64.0.0', 10, 'ipv4'],
  ['127.0.0.0', 8, 'ipv4'],
  ['169.254.0.0', 16, 'ipv4'],
  ['172.16.0.0', 12, 'ipv4'],
  ['192.0.0.0', 24, 'ipv4'],
  ['192.0.2.0', 24, 'ipv4'],
  ['192.168.0.0', 16, 'ipv4'],
  ['198.18.0.0', 15, 'ipv4'],
  ['198.51.100.0', 24, 'ipv4'],
  ['203.0.113.0', 24, 'ipv4'],
  ['224.0.0.0', 4, 'ipv4'],
  ['240.0.0.0', 4, 'ipv4'],
  ['::', 96, 'ipv6'],
  ['64:ff9b::', 96, 'ipv6'],
  ['64:ff9b:1::', 48, 'ipv6'],
  ['100::', 64, 'ipv6'],
  ['2001::', 32, 'ipv6'],
  ['2001:db8::', 32, 'ipv6'],
  ['2002::', 16, 'ipv6'],
  ['fc00::', 7, 'ipv6'],
  ['fe80::', 10, 'ipv6'],
  ['fec0::', 10, 'ipv6'],
  ['ff00::', 8, 'ipv6'],
];
const blocked = new BlockList();
for (const [net, prefix, family] of NOT_PUBLIC) blocked.addSubnet(net, prefix, family);

export const isPublicAddress = (address: string): boolean => {
  const version = isIP(address);
  return version !== 0 && !blocked.check(address, version === 6 ? 'ipv6' : 'ipv4');
};

export class PrivateAddressError extends Error {
  constructor(host: string) {
    super(`${host} is not a public address; set SECONDWIND_WEBHOOK_ALLOW_PRIVATE=1 to allow private addresses`);
    this.name = 'PrivateAddressError';
  }
}

/** Refuses a private IP address in the URL itself, for which no DNS lookup happens. */
export function refusePrivateHost(url: URL): void {
  const host = url.hostname.replace(/^\[|\]$/g, '');
  if (isIP(host) !== 0 && !isPublicAddress(host)) throw new PrivateAddressError(host);
}

/**
 * Resolves a host name and refuses it if any of its addresses is private. The connection uses this function as its own
 * lookup, so the address that was checked is the one that is connected to. This defeats DNS rebinding.
 */
export const lookupPublic: LookupFunction = (hostname, options, callback) => {
  lookup(hostname, { ...options, all: true }, (error, addresses: LookupAddress[]) => {
    const [first] = addresses ?? [];
    if (error !== null || first === undefined) {
      callback(error ?? new Error(`${hostname} has no address`), '', 4);
    } else if (addresses.some(({ address }) => !isPublicAddress(address))) {
      callback(new PrivateAddressError(hostname), '', 4);
    } else if (options.all === true) callback(null, addresses);
    else callback(null, first.address, first.family);
  });
};
