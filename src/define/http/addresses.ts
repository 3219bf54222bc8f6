import { BlockList, isIPv4, isIPv6 } from 'node:net';

/** Ranges of IPv4 that are not the public internet (the IANA registry of special addresses). */
const NOT_PUBLIC_V4: [string, number][] = [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  // Also where clouds answer with credentials: 169.254.169.254.
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.0.2.0', 24],
  ['192.88.99.0', 24],
  ['192.168.0.0', 16],
  ['198.18.0.0', 15],
  ['198.51.100.0', 24],
  ['203.0.113.0', 24],
  ['224.0.0.0', 4],
  ['240.0.0.0', 4],
];

/** Of IPv6 only this block is the public internet, without what is inside it for tunnels and documentation. */
const PUBLIC_V6: [string, number] = ['2000::', 3];
const NOT_PUBLIC_V6: [string, number][] = [
  ['2001::', 23],
  ['2001:db8::', 32],
  ['2002::', 16],
  ['3fff::', 20],
];

const notPublic = new BlockList();
for (const [network, bits] of NOT_PUBLIC_V4) notPublic.addSubnet(network, bits, 'ipv4');
for (const [network, bits] of NOT_PUBLIC_V6) notPublic.addSubnet(network, bits, 'ipv6');
const publicV6 = new BlockList();
publicV6.addSubnet(...PUBLIC_V6, 'ipv6');

/**
 * Does an address lead out to the public internet? Loopback, private and link-local networks, metadata services,
 * multicast, and IPv4 in the clothes of IPv6 do not; neither does what is no address at all.
 */
export function isPublic(address: string): boolean {
  if (isIPv4(address)) return !notPublic.check(address, 'ipv4');
  // A zone names an interface of this machine.
  if (!isIPv6(address) || address.includes('%')) return false;
  return publicV6.check(address, 'ipv6') && !notPublic.check(address, 'ipv6');
}
