/** The host of an address in its one spelling: small letters, no brackets, no final dot, numbers as an IP address. */
export function hostOf(address: string): string | null {
  if (!URL.canParse(address)) return null;
  const { hostname } = new URL(address);
  // Only of http addresses does URL bring the host into one spelling.
  return hostname === '' ? null : spelled(hostname);
}

/** Is this host, in its one spelling, the one that a rule names, however the rule spells it? */
export const isHost = (host: string, named: string): boolean => host === spelled(named);

function spelled(host: string): string {
  const bracketed = host.split(':').length > 2 && !host.startsWith('[') ? `[${host}]` : host;
  const address = `http://${bracketed}`;
  const { hostname } = URL.canParse(address) ? new URL(address) : { hostname: host };
  return hostname.toLowerCase().replace(/\.$/, '').replaceAll(/[[\]]/g, '');
}
