import { Problem } from '../problem.ts';

const LOOPBACK = ['localhost', '127.0.0.1', '[::1]'];
const HOST = /^(?<name>\[[0-9a-f:.]+\]|[a-z0-9._-]+)(?::\d{1,5})?$/i;

/**
 * A page on the web can make a browser call a server on this machine, under a name of its own (DNS rebinding) or openly
 * from its own origin. Neither is one of ours, so both are turned away before anything else is looked at.
 */
export function checkHost(host: string | undefined, allowed: readonly string[]): void {
  const name = nameOf(host ?? '');
  if (name !== undefined && isOurs(name, allowed)) return;
  throw new Problem(
    'foreign_host',
    'Call this server as localhost or 127.0.0.1; other names must be listed in SECONDWIND_ALLOWED_HOSTS.',
  );
}

export function checkOrigin(origin: string | undefined, allowed: readonly string[]): void {
  if (origin === undefined) return;
  const match = /^https?:\/\/(?<host>.+)$/i.exec(origin);
  const name = nameOf(match?.groups?.['host'] ?? '');
  if (name !== undefined && isOurs(name, allowed)) return;
  throw new Problem(
    'foreign_origin',
    'Call this server from its own pages or without a browser; other hosts must be listed in SECONDWIND_ALLOWED_HOSTS.',
  );
}

const nameOf = (host: string): string | undefined => HOST.exec(host)?.groups?.['name']?.toLowerCase();
const isOurs = (name: string, allowed: readonly string[]): boolean => LOOPBACK.includes(name) || allowed.includes(name);
