/** Returns the normalised host of a URL: lower case, no brackets, no final dot, IP addresses in standard notation. */
export function hostOf(address: string): string | null {
  if (!URL.canParse(address)) return null;
  const { hostname } = new URL(address);
  // URL normalises hosts only for http addresses, so the host is parsed once more as one.
  return hostname === '' ? null : normaliseHost(hostname);
}

/** Whether a normalised host is the one that a rule names. The rule may spell it differently. */
export const isHost = (host: string, named: string): boolean => host === normaliseHost(named);

function normaliseHost(host: string): string {
  const bracketed = host.split(':').length > 2 && !host.startsWith('[') ? `[${host}]` : host;
  const address = `http://${bracketed}`;
  const { hostname } = URL.canParse(address) ? new URL(address) : { hostname: host };
  return hostname.toLowerCase().replace(/\.$/, '').replaceAll(/[[\]]/g, '');
}
